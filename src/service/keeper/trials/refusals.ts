import type { TrialId, TrialVerdict } from "../../../execution/trial/announcement.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Whereabouts } from "./insiders.ts"

/** Why something about a trial is refused. */

/** What belongs to somebody else does not exist. */
export function notFound(trial: TrialId): Failure {
  return failure("TRIAL_NOT_FOUND", `Unknown trial: ${trial}.`)
}

export function overAlready(trial: TrialId, { verdict }: { verdict: TrialVerdict }): Failure {
  const message = `Trial ${trial} has ended as ${verdict}: \`trial.end\` gives its attestation.`
  return failure("WRONG_STATE", message, { state: "ended", trial, verdict })
}

export function leaseEnded(trial: TrialId): Failure {
  const message = `Trial ${trial} is being ended as LOST: nobody had renewed its lease in time.`
  return failure("WRONG_STATE", message, { state: "stopping", trial })
}

export function stillRuns(trial: TrialId, steps: readonly string[]): Failure {
  const names = steps.map((step) => JSON.stringify(step)).join(", ")
  const message =
    `Trial ${trial} cannot be judged: its step ${names} has not ended. Wait for it, or ` +
    "cancel it."
  return failure("WRONG_STATE", message, { state: "running", trial, steps: [...steps] })
}

export function notOutside(where: Exclude<Whereabouts, { kind: "outside" }>): Failure {
  const { kind, trial } = where
  const message =
    kind === "inside"
      ? `This process is part of trial ${trial}: what a trial starts has not the scope ` +
        "`attest`, and must not announce, start or end steps of trials."
      : `It cannot be told whether this process is part of trial ${trial}, so it has not the ` +
        "scope `attest`: connect by WebSocket, or wait until that step has ended."
  return failure("FORBIDDEN", message, { scope: "attest", trial })
}
