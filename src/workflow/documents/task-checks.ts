import type { MarkedLine } from "./prose.ts"
import type { TaskCheck, TaskNote } from "./task.ts"

export type TaskChecks = {
  checks: TaskCheck[]
  unclear: TaskNote[]
  verification: TaskNote | null
}

/** Only a labelled command alone on its line is one; all other code spans are prose. */
export function checksIn(lines: readonly MarkedLine[]): TaskChecks {
  const found: TaskChecks = { checks: [], unclear: [], verification: null }
  for (const { kind, text, number } of lines) {
    const [, label, words = ""] = kind === "prose" ? (labelForm.exec(text) ?? []) : []
    if (label === undefined) continue
    if (/^verification$/i.test(label)) {
      found.verification ??= { line: number, text: words.trim() }
      continue
    }
    const read = readCheck(words.trim())
    if (read === null) found.unclear.push({ line: number, text: text.trim() })
    else found.checks.push({ ...read, line: number })
  }
  return found
}

const marks = "(?:\\*\\*|__|\\*|_)?"
const labels = "(Check|Verification Command|Verification)"
const labelForm = new RegExp(
  `^\\s*(?:[-*+]\\s+)?${marks}${labels}${marks}\\s*:${marks}\\s*(.*)$`,
  "i",
)

const span = "(`+)(?!`)(.+?)(?<!`)\\1(?!`)"
const checkForm = new RegExp(`^${span}(?:\\s*\\(\\s*red:\\s*(.+?)\\s*\\))?\\s*\\.?$`, "i")
const spoilForm = new RegExp(`^spoil:\\s*${span}$`, "i")

function readCheck(words: string): Omit<TaskCheck, "line"> | null {
  const [, , code, place = "base"] = checkForm.exec(words) ?? []
  if (code === undefined) return null
  const run = unpadded(code)
  if (run.trim() === "") return null
  if (place === "base" || place === "empty") return { run, red: place, spoil: null }
  const [, , spoil] = spoilForm.exec(place) ?? []
  return spoil === undefined ? null : { run, red: "spoil", spoil: unpadded(spoil) }
}

/** As Markdown does: one blank on both sides makes room for backticks. */
function unpadded(code: string): string {
  const isPadded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== ""
  return isPadded ? code.slice(1, -1) : code
}
