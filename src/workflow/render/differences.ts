import type { Result } from "../../lib/result.ts"
import type { DocumentFault } from "../documents/fault.ts"
import { linesOf } from "../documents/lines.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import { render } from "./render.ts"

/** A number or a tick in the file that is not what the ledger shows. */
export type Difference = { line: number; stands: string; shouldBe: string }

export function differencesFrom(
  text: string,
  summary: LedgerSummary,
): Result<Difference[], DocumentFault> {
  const rendered = render(text, summary)
  if (!rendered.ok) return rendered
  const [is, should] = [linesOf(text), linesOf(rendered.value)]
  const differing = is.filter((line, at) => line.text !== should[at]?.text)
  return {
    ok: true,
    value: differing.map(({ number, text: stands }) => {
      return { line: number, stands, shouldBe: should[number - 1]?.text ?? "" }
    }),
  }
}
