import { canonicalText } from "../../lib/canonical-text.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { WorkCheck } from "../documents/front-matter.ts"
import { lineEndOf, linesOf } from "../documents/lines.ts"
import { type Prompt, readPrompt } from "../documents/prompt.ts"

/** The text of a prompt with one more recovery test. Nothing else of its front matter changes. */
export function addRecovery(text: string, check: WorkCheck): Result<string, string> {
  const prompt = readPrompt(text)
  if (!prompt.ok) return fail(prompt.failure.reason)
  const wanted = settingsText(prompt.value, [...prompt.value.settings.recovery, check])
  for (const attempt of [appended, rewritten]) {
    const written = attempt(prompt.value, check)
    const again = written === null ? null : readPrompt(written)
    if (written === null || again?.ok !== true) continue
    const { settings, body } = again.value
    const isRight = settingsText(again.value, settings.recovery) === wanted
    if (isRight && body === prompt.value.body) return ok(written)
  }
  return fail("no entry could be added to `recovery:` in its front matter")
}

function settingsText({ settings }: Prompt, recovery: readonly WorkCheck[]): string {
  return canonicalText({ ...settings, recovery, others: [...settings.others] })
}

/** As one more item of a list that has a line for each; or as a list of its own. */
function appended({ text, settings }: Prompt, check: WorkCheck): string | null {
  const { lines, last } = frontMatterOf(text)
  const key = lines.findIndex((line) => /^recovery\s*:/.test(line.text))
  if (key < 0) return insertLines(text, last, ["recovery:", `  ${itemOf(check)}`])
  const rest = lines[key]?.text.replace(/^recovery\s*:/, "") ?? ""
  if (!/^\s*(?:#.*)?$/.test(rest) || settings.recovery.length === 0) return null
  const block = lines.slice(key + 1, endOfBlock(lines, key))
  const item = block.find((line) => /^\s*-\s/.test(line.text))
  const end = block.findLast(({ text: words }) => words.trim() !== "" && !words.startsWith("#"))
  if (item === undefined || end === undefined) return null
  const indent = /^\s*/.exec(item.text)?.[0] ?? ""
  return insertLines(text, end.next, [`${indent}${itemOf(check)}`])
}

/** The whole entry anew, whatever form it had. */
function rewritten({ text, settings }: Prompt, check: WorkCheck): string | null {
  const { lines } = frontMatterOf(text)
  const key = lines.findIndex((line) => /^recovery\s*:/.test(line.text))
  const first = lines[key]
  if (first === undefined) return null
  const end = lines[endOfBlock(lines, key) - 1]?.next ?? first.next
  const items = [...settings.recovery, check].map((one) => `  ${itemOf(one)}`)
  const without = text.slice(0, first.start) + text.slice(end)
  return insertLines(without, first.start, ["recovery:", ...items])
}

/** The lines between the fences, and where the closing one begins. */
function frontMatterOf(text: string) {
  const all = linesOf(text)
  const closing = all.findIndex((line, at) => at > 0 && /^---[ \t]*$/.test(line.text))
  return { lines: all.slice(0, Math.max(closing, 0)), last: all[closing]?.start ?? 0 }
}

/** What is indented, empty, a comment or an item belongs to the entry before it. */
function endOfBlock(lines: readonly { text: string }[], key: number): number {
  const next = lines.findIndex((line, at) => at > key && /^[^\s#\-\]}]/.test(line.text))
  return next < 0 ? lines.length : next
}

function insertLines(text: string, at: number, lines: readonly string[]): string {
  const lineEnd = lineEndOf(text)
  return text.slice(0, at) + lines.map((line) => line + lineEnd).join("") + text.slice(at)
}

/** JSON is YAML. */
function itemOf({ run, red, spoil }: WorkCheck): string {
  const place = spoil === null ? red : JSON.stringify(`spoil: ${spoil}`)
  return `- {run: ${JSON.stringify(run)}, red: ${place}}`
}
