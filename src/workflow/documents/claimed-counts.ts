import type { MarkedLine } from "./prose.ts"

/** Counts that somebody has written into a file: nothing attests them. */
export type ClaimedCounts = {
  success: number
  failure: number
  firstLine: number
  lastLine: number
  lines: number[] // those that say so, with the date beside them
}

const labels = [
  "Success/Failure Ratio",
  "Success Ratio",
  "Success",
  "Failure",
  "Total Executions",
  "Last Updated",
]
const labelForm = new RegExp(
  `^\\s*(?:[-*+]\\s+)?\\*\\*(${labels.join("|")})(?:\\*\\*\\s*:|:\\s*\\*\\*)\\s*(.*)$`,
  "i",
)

export function claimedCounts(lines: readonly MarkedLine[]): ClaimedCounts | null {
  const told = lines.flatMap(({ kind, text, number }) => {
    const [, label, value = ""] = kind === "prose" ? (labelForm.exec(text) ?? []) : []
    return label === undefined ? [] : [{ label: label.toLowerCase(), value, number }]
  })
  if (told.length === 0) return null
  const numberAfter = (name: string) => {
    const value = told.find(({ label }) => label === name)?.value
    const digits = /^\d+/.exec(value ?? "")
    return digits === null ? null : Number(digits[0])
  }
  const ratio = told
    .map(({ value }) => /^(\d+)\s*:\s*(\d+)/.exec(value))
    .find((one) => one !== null)
  const [, wins, losses] = ratio ?? []
  return {
    success: numberAfter("success") ?? Number(wins ?? 0),
    failure: numberAfter("failure") ?? Number(losses ?? 0),
    firstLine: told[0]?.number ?? 0,
    lastLine: told.at(-1)?.number ?? 0,
    lines: told.map(({ number }) => number),
  }
}
