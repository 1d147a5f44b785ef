import type { Client } from "../../../client/connect.ts"
import type { ParamsOf } from "../../../protocol/methods.ts"
import { trialVariable } from "../within-trial.ts"
import { endOf, type StepEnd } from "./step-run.ts"

/** How an agent is run, besides what it is told. */
export type SessionOptions = Pick<
  ParamsOf<"agent.start">,
  "agent" | "args" | "model" | "permission_mode" | "max_cost_usd" | "timeout"
>

export type SessionToRun = {
  /** Null for a session that is no act. */
  trial: string | null
  cwd: string
  prompt: string
  labels: Record<string, string>
  options: SessionOptions
}

export type SessionTold = {
  started(id: string): void
  asks(question: { execution_id: string; question_id: string; what: string }): void
  costs(usd: number): void
}

const mostQuestions = 3

/** One turn of a session; what it asks beyond what it may is denied. */
export async function runSession(
  client: Client,
  { trial, cwd, prompt, labels, options }: SessionToRun,
  signal: AbortSignal,
  told: SessionTold,
): Promise<StepEnd> {
  const part = trial === null ? {} : { trial, step: "act", env: { [trialVariable]: trial } }
  const request = {
    ...options,
    ...part,
    cwd,
    prompt,
    labels,
    restart: "never",
  } as const
  await using session = await client.startAgent(request)
  told.started(session.id)
  const ended = endOf(session.execution, signal)
  let questions = 0
  for await (const notice of session.events()) {
    if (notice.kind !== "event") continue
    const { event } = notice
    if (event.event === "usage") told.costs(event.cost_usd ?? 0)
    if (event.event === "turn-ended") await session.end()
    if (event.event !== "question" || event.decided_by !== undefined) continue
    questions += 1
    const { question_id } = event
    if (questions <= mostQuestions) {
      const what = event.tool === null ? "asks something" : `wants to use ${event.tool}`
      told.asks({ execution_id: session.id, question_id, what })
      continue
    }
    const message = `You may ask ${mostQuestions} questions: go on without, or say what is missing.`
    await session.answer({ question_id, behavior: "deny", message })
  }
  return await ended
}
