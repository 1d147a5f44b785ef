import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import type { TrialPorts } from "./trial-ports.ts"

/** Whether the execution that runs a trial is paused, and so cannot renew its lease. */
export function isRunnerPaused(
  trial: RecordedTrial | null,
  { journal }: Pick<TrialPorts, "journal">,
): boolean {
  if (trial === null || trial.runner === null) return false
  const runner = journal.find(trial.runner)
  return runner?.principal === trial.announcement.principal && runner.state.kind === "paused"
}
