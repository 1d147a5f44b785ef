import { z } from "zod"
import { AgentName, AgentStatus, Question } from "../execution/agent.ts"
import { ApprovalRules } from "../execution/approval-rule.ts"
import { Worktree, WorktreeName } from "../execution/worktree.ts"
import {
  ExecuteParams,
  Labels,
  trialStepFields,
  trialStepRule,
  variableName,
  withoutNul,
} from "./execute.ts"
import { executionId } from "./execution-reference.ts"
import { restartLinks } from "./restart-links.ts"
import { worktreeMethods } from "./worktree.ts"

const turnId = z
  .string()
  .min(1)
  .max(128)
  .describe("made up by the client; the same one again is the same turn")

export const OpenQuestion = Question.extend({ execution_id: z.string() })
export type OpenQuestion = z.infer<typeof OpenQuestion>

/** A session that ended with the service, and waits for somebody to go on with it. */
const InterruptedSession = z.object({
  execution_id: z.string(),
  session_id: z.string(),
  since: z.iso.datetime(),
  why: z.string(),
  missing: z.array(z.string()).describe("names of variables whose values have to be given again"),
  command: z.string().describe("goes on with it"),
})
export type InterruptedSession = z.infer<typeof InterruptedSession>

export const PermissionMode = z.enum([
  "default",
  "acceptEdits",
  "plan",
  "bypassPermissions",
  "dontAsk",
  "auto",
])

/** How a session is to be run, without what every execution has. */
export const AgentOptions = z.object({
  agent: AgentName.default("claude"),
  prompt: z.string().max(8_388_608).optional().describe("the first turn"),
  turn_id: turnId.optional().describe("of the first turn"),
  model: withoutNul.min(1).max(256).optional(),
  permission_mode: PermissionMode.optional(),
  approval: ApprovalRules.optional().describe("rules beside those of the service, judged after"),
  resume: withoutNul.min(1).max(64).optional().describe("a session's id, or an execution's"),
  fork: z.boolean().default(false).describe("with `resume`: as a new session, the old one stays"),
  worktree: WorktreeName.optional().describe("in a git worktree of its own, made under this name"),
  max_turns: z.int().positive().optional().describe("answers of the model"),
  max_cost_usd: z.number().positive().optional(),
  max_tokens: z.int().positive().optional().describe("of all kinds together"),
  on_limit: z.enum(["wait", "stop"]).default("wait"),
  restart: z.enum(["resume", "never"]).default("resume"),
  env_file: withoutNul.min(1).optional().describe("a file of NAME=value lines"),
  args: z.array(withoutNul).max(256).default([]).describe("further arguments of the agent"),
})
export type AgentOptions = z.infer<typeof AgentOptions>

const { cwd, timeout, idle_timeout, budget, limits, ...others } = ExecuteParams.shape
const { idempotency_key, labels, notify } = others
const ofExecute = { cwd, timeout, idle_timeout, budget, limits, idempotency_key, labels, notify }

export const AgentStartParams = AgentOptions.extend({
  ...ofExecute,
  ...trialStepFields,
  env: z.record(variableName, withoutNul).optional(),
  take_over: z
    .boolean()
    .default(false)
    .describe("with `resume`: end the execution that holds the session first"),
}).check(
  z.refine((params) => params.resume !== undefined || (!params.fork && !params.take_over), {
    message: "`fork` and `take_over` need `resume`",
    path: ["resume"],
  }),
  z.refine(({ resume, worktree }) => resume === undefined || worktree === undefined, {
    message: "a session that is gone on with stays where it is: leave out `worktree`",
    path: ["worktree"],
  }),
  trialStepRule,
)
export type AgentStartParams = z.infer<typeof AgentStartParams>

const AgentSendParams = z
  .object({
    execution_id: executionId,
    text: z.string().min(1).optional(),
    content: z
      .array(z.looseObject({ type: z.string() }))
      .min(1)
      .optional(),
    turn_id: turnId.optional(),
    when: z.enum(["next", "now"]).default("next").describe("`now` interrupts the turn before"),
  })
  .check(
    z.refine((params) => (params.text === undefined) !== (params.content === undefined), {
      message: "use either `text` or `content`",
    }),
  )
export type AgentSendParams = z.infer<typeof AgentSendParams>

const AgentAnswerParams = z.object({
  execution_id: executionId,
  question_id: z.string().min(1).max(64),
  behavior: z.enum(["allow", "deny"]),
  updated_input: z.record(z.string(), z.unknown()).optional().describe("with `allow`"),
  message: z.string().max(65_536).optional().describe("with `deny`: what the agent is told"),
  remember: z.boolean().default(false).describe("with `allow`: as the agent suggests"),
})
export type AgentAnswerParams = z.infer<typeof AgentAnswerParams>

const AgentConfigureParams = z.object({
  execution_id: executionId,
  model: AgentOptions.shape.model,
  permission_mode: AgentOptions.shape.permission_mode,
})
export type AgentConfigureParams = z.infer<typeof AgentConfigureParams>

const oneExecution = z.object({ execution_id: executionId })
const nothing = z.object({})

export const agentMethods = {
  "agent.start": {
    params: AgentStartParams,
    result: z.object({
      execution_id: z.string(),
      session_id: z.string(),
      turn_id: z.string().optional().describe("of the prompt"),
      repeated: z.boolean().optional(),
      note: z.string().optional().describe("what somebody who starts it should know"),
      worktree: Worktree.optional(),
    }),
  },
  "agent.send": { params: AgentSendParams, result: z.object({ turn_id: z.string() }) },
  "agent.answer": { params: AgentAnswerParams, result: nothing },
  "agent.interrupt": { params: oneExecution, result: nothing },
  "agent.end": { params: oneExecution, result: nothing },
  "agent.configure": { params: AgentConfigureParams, result: nothing },
  "agent.status": {
    params: oneExecution,
    result: AgentStatus.extend({
      execution_id: z.string(),
      worktree: Worktree.optional(),
      ...restartLinks,
    }),
  },
  "agent.inbox": {
    params: z.object({ labels: Labels.optional() }).prefault({}),
    result: z.object({
      questions: z.array(OpenQuestion),
      interrupted: z.array(InterruptedSession).default([]),
    }),
  },
  ...worktreeMethods,
} as const
