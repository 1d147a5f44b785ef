import { type Outcome, StopCause } from "../../../execution/state.ts"

export type OutcomeLabels = { outcome: Outcome["kind"]; cause: string }

/** What is told of an end: as much as can be counted, nothing that somebody made up. */
export function outcomeLabels(outcome: Outcome): OutcomeLabels {
  const { kind } = outcome
  switch (kind) {
    case "exited":
      return { outcome: kind, cause: outcome.exitCode === 0 ? "zero" : "nonzero" }
    case "signaled":
      return { outcome: kind, cause: "signal" }
    case "stopped":
      return { outcome: kind, cause: outcome.cause }
    case "failed-to-start":
      return { outcome: kind, cause: "spawn" }
    case "lost":
      return { outcome: kind, cause: lossCause(outcome.reason) }
  }
}

/** Every pair there can be, so that what has not happened yet is told as zero. */
export const allOutcomeLabels: readonly OutcomeLabels[] = [
  { outcome: "exited", cause: "zero" },
  { outcome: "exited", cause: "nonzero" },
  { outcome: "signaled", cause: "signal" },
  ...StopCause.options.map((cause) => ({ outcome: "stopped" as const, cause })),
  { outcome: "failed-to-start", cause: "spawn" },
  { outcome: "lost", cause: "internal" },
  { outcome: "lost", cause: "unkillable" },
  { outcome: "lost", cause: "service-ended" },
]

/** By how the sentence begins, which is all that a record keeps of it. */
function lossCause(reason: string): string {
  if (reason.startsWith("internal:")) return "internal"
  return reason.startsWith("SIGKILL") ? "unkillable" : "service-ended"
}
