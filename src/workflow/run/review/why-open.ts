import type { Fix } from "../../documents/review/fix-list.ts"
import { type FixState, fixReasons } from "../../ledger/fix-state.ts"

/** What is known of a fix, in words; to be read after its id. */
export function whyFixIsOpen({ check, verification }: Fix, state: FixState): string {
  switch (state.kind) {
    case "decided": {
      const { status, trial, undone } = state
      if (status !== "FAILED") return `is ${status}`
      const why = fixReasons(trial)
      if (undone === null) return `${trial.verdict}: ${why}`
      return `was done in trial ${undone.announcement.sequence}, and has been undone: ${why}`
    }
    case "under-way":
      return `is under way: trial ${state.sequence}`
    case "outdated":
      return "was tried with another text or check: run it again"
    case "open":
      if (check !== null) return "is open"
      return verification === null
        ? "has no verification: a command is needed"
        : "has a verification in prose: a command is needed"
  }
}
