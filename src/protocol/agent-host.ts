import { z } from "zod"
import { AgentStatus } from "../execution/agent.ts"
import { StopCause } from "../execution/state.ts"
import { Failure } from "./failure.ts"

/** What a host says on its own descriptor; what happens in the session goes to its output. */
export const HostMessage = z.union([
  z.object({ status: AgentStatus }),
  z.object({
    ack: z.string().describe("an order's id"),
    written: z.int().describe("bytes of output that the answer relies on"),
    failure: Failure.optional(),
  }),
  z.object({ end: z.object({ cause: StopCause.nullable(), message: z.string() }) }),
])
export type HostMessage = z.input<typeof HostMessage>
