import type { MarkedLine } from "./prose.ts"
import type { VerifiedLine } from "./task.ts"

const form = /^\s*_Verified:_[ \t]*(.*?)[ \t]*$/

/** Whether a line is what we write below a task. */
export function isVerifiedLine({ kind, text }: MarkedLine): boolean {
  return kind === "prose" && form.test(text)
}

export function verifiedLines(lines: readonly MarkedLine[]): VerifiedLine[] {
  return lines.filter(isVerifiedLine).map(({ start, next, number, text }) => {
    return { start, end: next, line: number, says: form.exec(text)?.[1] ?? "" }
  })
}
