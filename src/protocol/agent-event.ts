import { z } from "zod"
import {
  Activity,
  AgentName,
  AgentStatus,
  Question,
  TurnOutcome,
  Usage,
  UsageLimit,
} from "../execution/agent.ts"

/**
 * What stands in the log of an agent's session, one JSON object a line. Fields may be added, so
 * readers take what they know.
 */
const head = { v: z.literal(1), n: z.int(), at: z.iso.datetime() }

function event<Name extends string, Shape extends z.core.$ZodLooseShape>(name: Name, shape: Shape) {
  return z.object({ ...head, event: z.literal(name), ...shape })
}

const text = z.string()
const optionalText = z.string().nullish()

export const SessionEvent = z.discriminatedUnion("event", [
  event("session", {
    agent: AgentName,
    version: optionalText,
    session_id: text,
    cwd: text,
    model: optionalText,
    resumed_from: optionalText,
  }),
  event("turn", {
    turn_id: text,
    by: text,
    text: z.string().optional(),
    content: z.array(z.unknown()).optional(),
    when: z.literal("now").optional().describe("it goes before those that wait"),
  }),
  event("message", {
    message: z.unknown().optional(),
    text: z.string().optional().describe("a part of a message that is too long for one line"),
    part: z.int().optional(),
    last: z.boolean().optional(),
  }),
  event("question", Question.shape),
  event("answer", {
    question_id: text,
    behavior: z.enum(["allow", "deny", "withdrawn"]),
    by: text,
    updated_input: z.unknown().optional(),
    message: z.string().optional(),
    remember: z.boolean().optional(),
    rule: z.string().optional().describe("by `deadline`, or by a rule: which one"),
    rule_from: z.enum(["service", "session"]).optional().describe("whose rule it is"),
  }),
  event("activity", Activity.shape),
  event("status", AgentStatus.omit({ v: true }).shape),
  event("limit", UsageLimit.shape),
  event("usage", Usage.shape),
  event("budget", { budget: text, limit: z.number(), used: z.number(), done: text }),
  event("turn-ended", {
    turn_id: z.string().nullable(),
    outcome: TurnOutcome,
    result: optionalText,
    structured_output: z.unknown().optional(),
    cost_usd: z.number().optional(),
    duration_ms: z.number().nullish(),
    by: z.string().optional(),
  }),
  event("resumed", {
    after: text,
    attempt: z.int(),
    execution_id: z.string().optional().describe("after `restart`: the one it goes on with"),
  }),
  event("configured", { by: text, model: optionalText, permission_mode: optionalText }),
  event("problem", { problem: text }),
  event("ended", { cause: text, message: text }),
])
export type SessionEvent = z.infer<typeof SessionEvent>
