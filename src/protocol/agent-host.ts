import { z } from "zod"
import { AgentStatus } from "../execution/agent.ts"
import { StopCause } from "../execution/state.ts"
import { Failure } from "./failure.ts"

/** A question that was answered by a rule, at once or when nobody else had. */
export const RuleDecision = z.object({
  question_id: z.string(),
  behavior: z.enum(["allow", "deny"]),
  by: z.string().describe("`rule:NAME`, or `deadline`"),
  rule: z.string(),
  rule_from: z.enum(["service", "session"]),
  tool: z.string(),
})
export type RuleDecision = z.infer<typeof RuleDecision>

/** What a host says on its own descriptor; what happens in the session goes to its output. */
export const HostMessage = z.union([
  z.object({ status: AgentStatus }),
  z.object({
    ack: z.string().describe("an order's id"),
    written: z.int().describe("bytes of output that the answer relies on"),
    failure: Failure.optional(),
  }),
  z.object({ decided: RuleDecision }),
  z.object({ end: z.object({ cause: StopCause.nullable(), message: z.string() }) }),
])
export type HostMessage = z.input<typeof HostMessage>
