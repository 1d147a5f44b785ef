import { setMaxListeners } from "node:events"
import { CallError } from "../../../client/client-error.ts"
import type { Client } from "../../../client/connect.ts"
import type { RemoteExecution } from "../../../client/remote-execution.ts"
import type { StepRole, TrialStep } from "../../../execution/trial/announcement.ts"
import type { ParamsOf } from "../../../protocol/methods.ts"
import type { Completed } from "../../../protocol/notifications.ts"

/** How a step came to its end, as far as a runner has to know. */
export type StepEnd = { exitCode: number | null; text: string }

export type StepToRun = {
  trial: string
  step: TrialStep
  labels: Record<string, string>
  /** Of an act: what it gets besides its command. */
  act: { environment: Record<string, string>; input: string; timeoutSeconds?: number } | null
}

/** Shells say so that a program is missing or cannot be run; above are signals. */
const lastOwnExit = 125

/** Whether what comes after a step has a meaning. */
export function goesOn(role: StepRole, { exitCode }: StepEnd): boolean {
  if (role === "probe") return true
  if (exitCode === null) return false
  return role === "red" ? exitCode > 0 && exitCode <= lastOwnExit : exitCode === 0
}

/** Runs what was announced; whoever aborts cancels it, and learns its end all the same. */
export async function runStep(
  client: Client,
  { trial, step, labels, act }: StepToRun,
  signal: AbortSignal,
  started: (id: string) => void,
): Promise<StepEnd> {
  const request: ParamsOf<"execute"> = { trial, step: step.id, labels, on_disconnect: "cancel" }
  if (act !== null) {
    request.env = act.environment
    request.stdin = "pipe"
    if (act.timeoutSeconds !== undefined) request.timeout = act.timeoutSeconds
  }
  const execution = await client.execute(request, { output: "ignore" })
  started(execution.id)
  const input = act === null ? null : passInput(execution, act.input)
  const end = await endOf(execution, signal)
  await input
  return end
}

export async function endOf(execution: RemoteExecution, signal: AbortSignal): Promise<StepEnd> {
  setMaxListeners(0, signal)
  const cancel = () => void execution.cancel().catch(() => undefined) // it has ended by itself
  if (signal.aborted) cancel()
  signal.addEventListener("abort", cancel)
  try {
    return stepEnd(await execution.ended)
  } finally {
    signal.removeEventListener("abort", cancel)
  }
}

/** Nobody has to read it. */
export async function passInput(execution: RemoteExecution, text: string): Promise<void> {
  try {
    await execution.write(text)
    await execution.end()
  } catch (error) {
    if (!(error instanceof CallError)) throw error
  }
}

function stepEnd(ended: Completed): StepEnd {
  const { outcome, exit_code: exitCode } = ended
  return { exitCode: outcome === "exited" ? exitCode : null, text: endText(ended) }
}

export function endText({ outcome, exit_code: exitCode, signal, cause }: Completed): string {
  if (outcome === "exited") return `exit ${exitCode}`
  if (outcome === "signaled") return `ended by ${signal}`
  return cause === null ? outcome : `${outcome}: ${cause}`
}
