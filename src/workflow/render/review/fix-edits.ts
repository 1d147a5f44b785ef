import type { StepOutline } from "../../../execution/trial/attestation.ts"
import type { Fix, FixList } from "../../documents/review/fix-list.ts"
import { memberEdits } from "../../documents/review/member-edits.ts"
import { damageText } from "../../ledger/damage.ts"
import { fixReasons, fixState } from "../../ledger/fix-state.ts"
import type { LedgerSummary } from "../../ledger/summary.ts"
import type { Edit } from "../edit.ts"

/** What became of a fix, as it stands in the list. */
export type FixResult = {
  status: "FIXED" | "NO_CHANGE_NEEDED" | "FAILED" | null
  why: string
  trial?: number
  verdict?: string
  check?: string
  red?: SeenStep | null
  green?: SeenStep | null
  judged_at?: string
}

type SeenStep = { execution_id: string; exit: number | null }

/** Of a list without trials nothing is touched: what stands there is its owner's. */
export function fixEdits(list: FixList, summary: LedgerSummary): Edit[] {
  const { trials, open, damages } = summary
  if (trials.length + open.length + damages.length === 0) return []
  return list.fixes.flatMap((fix) => {
    const result = resultOf(fix, summary)
    return memberEdits(list.text, fix.node, "result", result)
  })
}

function resultOf(fix: Fix, summary: LedgerSummary): FixResult | null {
  const [damage] = summary.damages
  if (damage !== undefined) {
    if (fix.result === null) return null
    const why = `nothing counts while the ledger is damaged: ${damageText(damage)}`
    return { status: null, why }
  }
  const state = fixState(fix, summary)
  switch (state.kind) {
    case "open":
    case "under-way":
      return null
    case "outdated": {
      const { sequence } = state.trial.announcement
      return { status: null, why: `it has changed since trial ${sequence}: run it again` }
    }
    case "decided": {
      const { status, trial, undone } = state
      const { announcement, verdict, steps, judged_at } = trial
      const earlier = undone === null ? "" : `undone since trial ${undone.announcement.sequence}: `
      const green = steps.find(({ role }) => role === "green")
      return {
        status,
        why: earlier + fixReasons(trial),
        trial: announcement.sequence,
        verdict,
        ...(green?.run === undefined ? {} : { check: green.run }),
        red: seen(steps.find(({ role, run }) => role === "red" && run === green?.run)),
        green: seen(green),
        judged_at,
      }
    }
  }
}

function seen(step: StepOutline | undefined): SeenStep | null {
  if (step === undefined || step.execution_id === null) return null
  return { execution_id: step.execution_id, exit: step.exit }
}
