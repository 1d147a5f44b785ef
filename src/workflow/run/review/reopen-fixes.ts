import { memberOf, readJsonText } from "../../../lib/json/json-text.ts"
import type { Fix } from "../../documents/review/fix-list.ts"
import { fixListIn } from "../../documents/review/fix-list.ts"
import { commandIn } from "../../documents/review/verification.ts"

/** The list with what was undone since the round before, where the reviewer has not found it. */
export function withUndone(text: string, from: string, undone: readonly Fix[]): string {
  const list = fixListIn(text)
  const root = readJsonText(text)
  const fixes = root.ok ? memberOf(root.value, "fixes")?.value : undefined
  if (!list.ok || fixes?.kind !== "list") return text
  const known = new Set(list.value.fixes.map(({ check }) => check?.run))
  const missing = undone.filter(({ check }) => check !== null && !known.has(check.run))
  if (missing.length === 0) return text
  const numbers = list.value.fixes.map(({ id }) => Number(id)).filter(Number.isInteger)
  const first = Math.max(0, ...numbers) + 1
  const added = missing.map((fix, index) =>
    JSON.stringify(reopened(fix, first + index, from), null, 2),
  )
  const indented = added.map((one) => one.replaceAll("\n", "\n    "))
  const last = fixes.items.at(-1)
  const at = last?.end ?? fixes.start + 1
  const before = last === undefined ? "\n    " : ",\n    "
  const after = last === undefined ? "\n  " : ""
  return text.slice(0, at) + before + indented.join(",\n    ") + after + text.slice(at)
}

function reopened(
  { id: was, severity, file, place, issue, fix, check }: Fix,
  id: number,
  from: string,
) {
  const line = place !== null && /^\d+$/.test(place) ? Number(place) : null
  const { run = "false", spoil = null } = check ?? {}
  const isPlain = spoil === null && commandIn(run) === run
  return {
    id,
    severity,
    file: file ?? ".",
    line,
    issue: `Undone since the last round: ${issue}`,
    fix: fix === "" ? "Do it again." : fix,
    verification: isPlain ? run : { run, ...(spoil === null ? {} : { spoil }) },
    reopens: `${from}#${was}`,
  }
}
