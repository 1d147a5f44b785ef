import { ok, type Result } from "../../lib/result.ts"
import type { DocumentFault } from "../documents/fault.ts"
import { linesOf } from "../documents/lines.ts"
import { readWork } from "../documents/work-kind.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import { type Edit, inOrder } from "./edit.ts"
import { editsOf } from "./render.ts"

/** A number or a tick that is not what the ledger shows. */
export type Difference = {
  line: number
  stands: string // empty where something is missing
  shouldBe: string // empty where nothing should be
}

export function differencesFrom(
  text: string,
  summary: LedgerSummary,
): Result<Difference[], DocumentFault> {
  const work = readWork(text)
  if (!work.ok) return work
  return ok(inOrder(editsOf(work.value, summary)).flatMap((edit) => differencesIn(text, edit)))
}

export function differenceText({ line, stands, shouldBe }: Difference): string {
  if (stands === "") return `line ${line}: what the ledger shows is missing: ${shouldBe}`
  if (shouldBe === "") return `line ${line}: nothing shows this: ${stands}`
  return `line ${line}: it says "${stands}", but the ledger shows "${shouldBe}"`
}

/** Whole lines are compared by what they are about: one may be missing or too many. */
function differencesIn(text: string, { start, end, text: after }: Edit): Difference[] {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1
  const line = text.slice(0, lineStart).split("\n").length
  if (start > lineStart) {
    const lineEnd = endOfLine(text, end)
    const stands = text.slice(lineStart, lineEnd).trim()
    const shouldBe = text.slice(lineStart, start) + after + text.slice(end, lineEnd)
    return [{ line, stands, shouldBe: shouldBe.trim() }]
  }
  const is = linesOf(text.slice(start, end)).map((one) => one.text.trim())
  const should = linesOf(after).map((one) => one.text.trim())
  const wrong = is.flatMap((stands, index): Difference[] => {
    if (stands === "" || should.includes(stands)) return []
    const shouldBe = should.find((one) => subjectOf(one) === subjectOf(stands)) ?? ""
    return [{ line: line + index, stands, shouldBe }]
  })
  const told = new Set(wrong.map(({ shouldBe }) => shouldBe))
  const missing = should
    .filter((one) => one !== "" && !is.includes(one) && !told.has(one))
    .map((shouldBe): Difference => ({ line, stands: "", shouldBe }))
  return [...wrong, ...missing]
}

function endOfLine(text: string, from: number): number {
  const found = text.indexOf("\n", from)
  return found < 0 ? text.length : found
}

/** `- **Success**` of `- **Success**: 9`; of a row of a table, its first cell. */
function subjectOf(line: string): string {
  return /^(?:\|[^|]*\||[^:]*:)/.exec(line)?.[0] ?? ""
}
