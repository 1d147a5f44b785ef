import { z } from "zod"
import { RecordedRules } from "./approval-rule.ts"
import { ExecutionId } from "./id.ts"
import { Worktree } from "./worktree.ts"

/** What is known of an agent's session: journaled with its execution, and told to clients. */

export const AgentName = z.enum(["claude"])
export type AgentName = z.infer<typeof AgentName>

const time = z.iso.datetime()

// --- questions -----------------------------------------------------------------------------------

export const Question = z.object({
  question_id: z.string(),
  kind: z.enum(["permission", "choice", "elicitation"]),
  tool: z.string().nullable().describe("which tool it wants to use"),
  input: z.unknown().describe("what it wants to use it with; null where it is too large for here"),
  title: z.string().nullable(),
  description: z.string().nullable(),
  suggestions: z.array(z.unknown()).describe("rules that `remember` would make"),
  subagent: z.string().nullable().describe("the agent's name for a subagent that asks"),
  needs_person: z.boolean().describe("the agent says that no rule may answer it"),
  defaults_to_no: z.boolean(),
  asked_at: time,
  replaces: z.string().nullable().describe("an earlier question that is asked again by this one"),
  input_bytes: z.int().optional().describe("how large `input` is where it was left out"),
  rule: z.string().optional().describe("the approval rule by which it is asked"),
  answer_by: time.optional().describe("when that rule answers it, unless somebody has by then"),
  answer_then: z.enum(["allow", "deny"]).optional().describe("what the rule answers then"),
  decided_by: z.string().optional().describe("the rule that answers it at once: nobody is asked"),
})
export type Question = z.infer<typeof Question>

// --- status --------------------------------------------------------------------------------------

const ActivityState = z.enum([
  "starting",
  "idle",
  "thinking",
  "tool",
  "question",
  "limit",
  "retrying",
  "compacting",
  "stalled",
])
export type ActivityState = z.infer<typeof ActivityState>

export const Activity = z.object({
  state: ActivityState,
  since: time,
  awaited: z.string().describe("what it waits for, in words"),
  tool: z.string().optional(),
  attempt: z.int().optional(),
  most_attempts: z.int().optional(),
  until: time.optional().describe("when it goes on by itself"),
  todo: z.string().optional().describe("what could be done about it"),
})
export type Activity = z.infer<typeof Activity>

const Tokens = z.object({
  input: z.int(),
  output: z.int(),
  cache_read: z.int(),
  cache_creation: z.int(),
})
export type Tokens = z.infer<typeof Tokens>

export const Usage = z.object({
  cost_usd: z.number().describe("as the agent counts it, from the session's start"),
  tokens: Tokens,
  by_model: z.record(z.string(), Tokens.extend({ cost_usd: z.number() })),
  context_tokens: z.int().nullable().describe("how much of the context the last response took"),
  context_window: z.int().nullable(),
})
export type Usage = z.infer<typeof Usage>

export const UsageLimit = z.object({
  status: z.string().describe("`allowed`, `allowed_warning` or `rejected`"),
  type: z.string().nullable(),
  resets_at: time.nullable(),
  utilization: z.number().nullable(),
})
export type UsageLimit = z.infer<typeof UsageLimit>

export const TurnOutcome = z.enum([
  "success",
  "error",
  "interrupted",
  "max-turns",
  "max-cost",
  "limit",
])
export type TurnOutcome = z.infer<typeof TurnOutcome>

/** A budget of which four fifths are gone. */
export const BudgetUse = z.object({
  budget: z.enum(["turns", "cost", "tokens"]),
  limit: z.number(),
  used: z.number(),
})
export type BudgetUse = z.infer<typeof BudgetUse>

const EndedTurn = z.object({
  turn_id: z.string().nullable().describe("null for a turn that the agent began by itself"),
  outcome: TurnOutcome,
  result: z.string().nullable().describe("its beginning, where it is long"),
  ended_at: time,
})

export const AgentStatus = z.object({
  v: z.literal(1),
  agent: AgentName,
  agent_version: z.string().nullable(),
  session_id: z.string(),
  resumed_from: z.string().nullable(),
  model: z.string().nullable(),
  permission_mode: z.string().nullable(),
  activity: Activity,
  turns: z.object({
    accepted: z.int(),
    ended: z.int(),
    waiting: z.int(),
    current: z.string().nullable(),
    responses: z.int().describe("answers of the model, which is what `max_turns` counts"),
  }),
  questions: z.array(Question),
  usage: Usage,
  limit: UsageLimit.nullable(),
  limited_until: time.nullish().describe("while a usage limit holds it up"),
  budget_warnings: z
    .array(BudgetUse)
    .optional()
    .describe("budgets that are nearly used up, as they were when that was noticed"),
  last_turn: EndedTurn.nullable(),
  crashes: z.int().describe("how often the agent's program died and was started again"),
  end: z
    .object({ cause: z.string(), message: z.string() })
    .nullable()
    .describe("why the session ends, once it does"),
})
export type AgentStatus = z.infer<typeof AgentStatus>

/** What `list`, `ps` and `watch` show of a session. */
export const AgentSummary = AgentStatus.pick({
  agent: true,
  agent_version: true,
  session_id: true,
  model: true,
  activity: true,
  turns: true,
  limit: true,
  end: true,
}).extend({ cost_usd: z.number(), open_questions: z.int() })
export type AgentSummary = z.infer<typeof AgentSummary>

export function summaryOf(status: AgentStatus): AgentSummary {
  const { agent, agent_version, session_id, model, activity, turns, limit, end } = status
  const { cost_usd } = status.usage
  const open_questions = status.questions.length
  const told = { agent, agent_version, session_id, model, activity, turns, limit, end }
  return { ...told, cost_usd, open_questions }
}

/** How a session was asked for, without its prompts, which stand in its transcript. */
export const AgentSpec = z.object({
  agent: AgentName,
  sessionId: z.string().describe("the agent's own name of the session"),
  resumedFrom: z.string().nullable().describe("the session that it goes on with"),
  fork: z.boolean(),
  model: z.string().nullable(),
  permissionMode: z.string().nullable(),
  maxTurns: z.int().nullable(),
  maxCostUsd: z.number().nullable(),
  maxTokens: z.int().nullable(),
  onLimit: z.enum(["wait", "stop"]),
  restart: z.enum(["resume", "never"]),
  envFile: z.string().nullable(),
  approval: RecordedRules.optional().describe("its own rules, beside those of the service"),
  restartOf: ExecutionId.optional().describe("the execution that this one goes on with"),
  worktree: Worktree.optional().describe("the git worktree that was made for it"),
  restarts: z.int().optional().describe("how many in a row without a turn that ended"),
})
export type AgentSpec = z.infer<typeof AgentSpec>
