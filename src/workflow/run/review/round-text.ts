import { basename } from "node:path"
import { fixState } from "../../ledger/fix-state.ts"
import type { PreviousRound } from "../../plan/review/review-prompt.ts"
import type { Reverified } from "./reverify-fixes.ts"
import { fixListOf } from "./run-fixes.ts"
import { whyFixIsOpen } from "./why-open.ts"

/** What a reviewer is told of the round before. */
export function roundText(reverified: Reverified): PreviousRound {
  const { state, holds, undone } = reverified
  const known = new Set([...holds, ...undone].map(({ id }) => id))
  const open = fixListOf(state).fixes.filter(({ id }) => !known.has(id))
  const named = (one: { id: string; issue: string }) => `${one.id} ${one.issue}`
  return {
    id: idOf(reverified),
    holds: holds.map(named),
    undone: undone.map(named),
    open: open.map((fix) => `${named(fix)} (${whyFixIsOpen(fix, fixState(fix, state.summary))})`),
  }
}

export function idOf(reverified: Reverified | null): string {
  return basename(reverified?.state.path ?? "").replace(/_fixes\.json$/, "")
}
