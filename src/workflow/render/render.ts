import { ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "../documents/fault.ts"
import { readWork, type Work } from "../documents/work-kind.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import { applyEdits, type Edit } from "./edit.ts"
import { promptEdits } from "./prompt-edits.ts"
import { fixEdits } from "./review/fix-edits.ts"
import { taskEdits } from "./task-edits.ts"

/**
 * The text with what the ledger shows in it. Only what is ours changes; a file without trials and
 * without anything of ours stays as it is.
 */
export function render(text: string, summary: LedgerSummary): Result<string, DocumentFault> {
  const work = readWork(text)
  return work.ok ? ok(applyEdits(text, editsOf(work.value, summary))) : work
}

export function editsOf(work: Work, summary: LedgerSummary): Edit[] {
  switch (work.kind) {
    case "tasks":
      return taskEdits(work, summary)
    case "prompt":
      return promptEdits(work, summary)
    case "fixes":
      return fixEdits(work, summary)
    case "review":
      return []
  }
}
