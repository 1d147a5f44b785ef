import type { TrialOutline } from "../../execution/trial/attestation.ts"
import type { Task } from "../documents/task.ts"
import type { LedgerSummary } from "./summary.ts"

/** What the ledger shows of a task as its text is now. */
export type TaskState =
  | { kind: "verified"; trial: TrialOutline }
  | { kind: "failed"; trial: TrialOutline }
  | { kind: "warned"; trial: TrialOutline } // or broken: neither for nor against it
  | { kind: "under-way"; sequence: number }
  | { kind: "outdated"; trial: TrialOutline } // its last trial was of another text or check
  | { kind: "unattested" } // ticked by hand
  | { kind: "accepted" } // by a person
  | { kind: "open" }

export function taskState(
  { id, version, isClaimed, accepted }: Task,
  { trials, open }: LedgerSummary,
): TaskState {
  const own = trials.filter(({ announcement }) => announcement.work.item === id)
  const current = own.filter(({ announcement }) => announcement.version === version)
  const deciding = current.findLast(({ verdict }) => verdict !== "WARNED" && verdict !== "BROKEN")
  const underWay = open.findLast(({ item }) => item === id)
  if (accepted !== null && deciding?.verdict !== "PASSED") return { kind: "accepted" }
  // An earlier one is that of a runner which was killed, and decides nothing any more.
  const lastSequence = current.at(-1)?.announcement.sequence ?? 0
  if (underWay !== undefined && underWay.sequence > lastSequence) {
    return { kind: "under-way", sequence: underWay.sequence }
  }
  if (deciding !== undefined) {
    return { kind: deciding.verdict === "PASSED" ? "verified" : "failed", trial: deciding }
  }
  const undecided = current.at(-1)
  if (undecided !== undefined) return { kind: "warned", trial: undecided }
  const earlier = own.at(-1)
  if (earlier !== undefined) return { kind: "outdated", trial: earlier }
  return { kind: isClaimed ? "unattested" : "open" }
}
