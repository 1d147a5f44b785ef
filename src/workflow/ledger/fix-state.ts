import type { TrialOutline } from "../../execution/trial/attestation.ts"
import type { Fix } from "../documents/review/fix-list.ts"
import type { LedgerSummary } from "./summary.ts"

export type FixStatus = "FIXED" | "NO_CHANGE_NEEDED" | "FAILED"

/** What the ledger shows of a fix as it is written now; what anybody claims is not looked at. */
export type FixState =
  | { kind: "decided"; status: FixStatus; trial: TrialOutline; undone: TrialOutline | null }
  | { kind: "under-way"; sequence: number }
  | { kind: "outdated"; trial: TrialOutline } // its last trial was of another text or check
  | { kind: "open" }

/** `undone` is the trial that had shown it to be done, where a later one fails. */
export function fixState({ id, version }: Fix, { trials, open }: LedgerSummary): FixState {
  const underWay = open.findLast(({ item }) => item === id)
  const own = trials.filter(({ announcement }) => announcement.work.item === id)
  const current = own.filter(({ announcement }) => announcement.version === version)
  const says = ({ verdict }: TrialOutline) => verdict !== "WARNED" && verdict !== "BROKEN"
  // What has proved nothing takes back nothing; alone, it leaves the fix unproven.
  const trial = current.findLast(says) ?? current.at(-1)
  const decidedBy = trial?.announcement.sequence ?? 0
  // An earlier one is that of a runner which was killed, and decides nothing any more.
  if (underWay !== undefined && underWay.sequence > decidedBy) {
    return { kind: "under-way", sequence: underWay.sequence }
  }
  if (trial === undefined) {
    const earlier = own.at(-1)
    return earlier === undefined ? { kind: "open" } : { kind: "outdated", trial: earlier }
  }
  const status = statusOf(trial)
  const before = current.findLast(({ verdict }) => verdict === "PASSED")
  const undone = status === "FAILED" && !hasActed(trial) ? (before ?? null) : null
  return { kind: "decided", status, trial, undone }
}

/** Fixed is what failed in the files as they were before, and passes now. */
function statusOf({ verdict, steps }: TrialOutline): FixStatus {
  if (verdict !== "PASSED") return "FAILED"
  const failedBefore = steps.some(
    ({ role, red, finding }) => role === "red" && red === "base" && finding === "right",
  )
  return failedBefore ? "FIXED" : "NO_CHANGE_NEEDED"
}

function hasActed({ steps }: TrialOutline): boolean {
  return steps.some(({ role, finding }) => role === "act" && finding !== "not-run")
}

export function isClosed(state: FixState): boolean {
  return state.kind === "decided" && state.status !== "FAILED"
}

/** Why a trial of a fix has ended as it has, in words. */
export function fixReasons({ announcement, reasons, steps }: TrialOutline): string {
  const guard = steps.find(({ id, finding }) => id === "protected" && finding === "failed")
  if (guard === undefined) return reasons.join("; ")
  const files = announcement.definition.protect.join(", ")
  return `refused: the fixer has changed what it must not change (${files})`
}
