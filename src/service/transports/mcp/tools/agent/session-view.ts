import { z } from "zod"
import { Question, TurnOutcome } from "../../../../../execution/agent.ts"
import { type ExecutionRecord, hasEnded } from "../../../../../execution/record.ts"
import { fail, ok, type Result } from "../../../../../lib/result.ts"
import { type Failure, failure } from "../../../../../protocol/failure.ts"
import { outcomeText, summaryOf } from "../../execution-summary.ts"
import { howToAnswer } from "./how-to-answer.ts"

const { question_id, kind, tool, title, description, input, needs_person } = Question.shape

const ViewedQuestion = z.object({
  question_id,
  kind,
  tool,
  title,
  description,
  input: input.describe("exactly what it wants to use the tool with"),
  needs_person: needs_person.describe("ask the user before you answer it"),
  how_to_answer: z.string(),
})

/** A session as a model needs to know it. */
export const SessionView = z.object({
  execution_id: z.string().describe("pass this to the other tools"),
  state: z
    .enum(["working", "asking", "idle", "ended"])
    .describe(
      "`asking`: it waits for `agent_answer`; `idle`: its turn has ended, it waits for " +
        "`agent_send`; `working`: call `agent_wait`",
    ),
  doing: z.string().nullable().describe("what it does and waits for"),
  until: z.string().nullable().describe("when it goes on by itself, at a usage limit say"),
  questions: z.array(ViewedQuestion).describe("what it asks now"),
  result: z
    .object({
      turn_id: z.string().nullable(),
      outcome: TurnOutcome,
      text: z.string().nullable().describe("what the agent said in the end: a claim, not a proof"),
      is_cut: z.boolean().describe("only its beginning is shown"),
    })
    .nullable()
    .describe("of the turn that ended last; null while it is at another one"),
  turns_ended: z.int(),
  turns_waiting: z.int(),
  cost_usd: z.number(),
  session_id: z.string().nullable().describe("the agent's own name of the session"),
  ending: z.string().nullable().describe("how the session ended"),
})
export type SessionView = z.infer<typeof SessionView>

/** As much of a result as a status keeps. */
const shownResultCharacters = 4000

/** Whether there is something to tell: it asks, has done all that it was given, or has ended. */
export function isAtRest(record: ExecutionRecord): boolean {
  return stateOf(record) !== "working"
}

export function sessionView(record: ExecutionRecord): Result<SessionView, Failure> {
  const { agent, spec } = record
  if (spec.agent === undefined) return fail(notASession(record))
  const state = stateOf(record)
  // While it is at a turn, the result of the one before would be taken for this one's.
  const last = state === "idle" || state === "ended" ? (agent?.last_turn ?? null) : null
  return ok({
    execution_id: record.id,
    state,
    doing: doingOf(record),
    until: hasEnded(record) ? null : (agent?.activity.until ?? null),
    questions: (agent?.questions ?? []).map((question) => ({
      question_id: question.question_id,
      kind: question.kind,
      tool: question.tool,
      title: question.title,
      description: question.description,
      input: question.input,
      needs_person: question.needs_person,
      how_to_answer: howToAnswer(question),
    })),
    result: last && {
      turn_id: last.turn_id,
      outcome: last.outcome,
      text: last.result,
      is_cut: (last.result?.length ?? 0) >= shownResultCharacters,
    },
    turns_ended: agent?.turns.ended ?? 0,
    turns_waiting: agent?.turns.waiting ?? 0,
    cost_usd: agent?.usage.cost_usd ?? 0,
    session_id: agent?.session_id ?? spec.agent.sessionId,
    ending: endingOf(record),
  })
}

function stateOf(record: ExecutionRecord): SessionView["state"] {
  if (hasEnded(record)) return "ended"
  const { agent } = record
  if (!agent || agent.end !== null) return "working"
  if (agent.questions.length > 0) return "asking"
  const { current, waiting } = agent.turns
  const hasNothingToDo = current === null && waiting === 0 && agent.activity.state === "idle"
  return hasNothingToDo ? "idle" : "working"
}

/** What it does, in words; null once it has ended. */
export function doingOf(record: ExecutionRecord): string | null {
  const { state, agent } = record
  if (hasEnded(record)) return null
  if (state.kind === "queued") return "queued, waits until others have ended"
  if (state.kind === "paused") return "paused, waits for `resume`"
  return agent ? `${agent.activity.state}, waits for ${agent.activity.awaited}` : "starting"
}

function endingOf(record: ExecutionRecord): string | null {
  if (!hasEnded(record)) return null
  const why = record.agent?.end?.message
  return `The session ${outcomeText(summaryOf(record))}.${why === undefined ? "" : ` ${why}`}`
}

function notASession({ id, state }: ExecutionRecord): Failure {
  const message = `Execution ${id} is a command, not an agent's session: use \`wait\` for it.`
  return failure("WRONG_STATE", message, { state: state.kind })
}

export const exampleSession: SessionView = {
  execution_id: "m4xw7ezhy3gqk2vbn4c6fsaelu",
  state: "asking",
  doing: "question, waits for an answer to 1 question",
  until: null,
  questions: [
    {
      question_id: "q1",
      kind: "permission",
      tool: "Bash",
      title: "Bash",
      description: "Run the tests",
      input: { command: "npm test" },
      needs_person: false,
      how_to_answer: "agent_answer with question_id q1 and behavior `allow` or `deny` …",
    },
  ],
  result: null,
  turns_ended: 0,
  turns_waiting: 0,
  cost_usd: 0.0132,
  session_id: "cd6d0f56-0301-4ee6-a15f-78b79f6f57fe",
  ending: null,
}
