import { ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "../documents/fault.ts"
import { readWork } from "../documents/work-kind.ts"
import type { LedgerSummary } from "../ledger/summary.ts"

/**
 * The text with what the ledger shows in it. Only what is ours changes; a file without trials and
 * without anything of ours stays as it is.
 */
export function render(text: string, summary: LedgerSummary): Result<string, DocumentFault> {
  const work = readWork(text)
  if (!work.ok) return work
  return ok(summary.trials.length === 0 ? text : work.value.text)
}
