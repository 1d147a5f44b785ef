import { fail, ok, type Result } from "../../lib/result.ts"
import { ownLines } from "../documents/document.ts"
import { lineEndOf, linesOf } from "../documents/lines.ts"
import { type Prompt, readPrompt } from "../documents/prompt.ts"
import type { Region } from "../documents/regions.ts"
import { applyEdits, type Edit } from "../render/edit.ts"

/**
 * A prompt with another body: its front matter stays, and so do our regions, where the lines around
 * them are still to be found. `improved` is read from a text without regions.
 */
export function replaceBody(current: Prompt, improved: Prompt): Result<string, string> {
  const front = current.text.slice(0, bodyStart(current))
  const body = improved.text.slice(bodyStart(improved))
  const { regions } = current
  const placed = applyEdits(
    body,
    regions.map((region) => insertion(current, region, body)),
  )
  const atTheTop = regions.map((region) => textOf(current, region)).join("") + body
  for (const each of [placed, atTheTop]) {
    const read = readPrompt(front + each)
    if (read.ok && isWhole(read.value, current, improved)) return ok(front + each)
  }
  return fail("its counts would have no place in what was written")
}

/** Where the text for agents begins: behind the front matter. */
export function bodyStart({ lines, text }: Prompt): number {
  return lines.find(({ kind }) => kind !== "front-matter")?.start ?? text.length
}

function isWhole(read: Prompt, current: Prompt, improved: Prompt): boolean {
  const names = ({ regions }: Prompt) => regions.map(({ name }) => name).join()
  return names(read) === names(current) && wordsOf(read.body) === wordsOf(improved.body)
}

/** Without empty lines. */
function wordsOf(body: string): string {
  const lines = linesOf(body).map(({ text }) => text.trimEnd())
  return lines.filter((line) => line !== "").join("\n")
}

function textOf({ text }: Prompt, { start, end }: Region): string {
  const region = text.slice(start, end)
  return region.endsWith("\n") ? region : region + lineEndOf(text)
}

/** Behind the line that stood before it, if there is exactly one; else before the one after it. */
function insertion(current: Prompt, region: Region, body: string): Edit {
  const own = ownLines(current).filter(
    (line) => line.kind !== "front-matter" && line.text.trim() !== "",
  )
  const before = own.findLast((line) => line.next <= region.start)
  const after = own.find((line) => line.start >= region.end)
  const text = textOf(current, region)
  const lines = linesOf(body)
  const onlyOne = (words: string | undefined) => {
    const found = lines.filter((line) => line.text === words)
    return found.length === 1 ? found[0] : undefined
  }
  const isEnd = after === undefined
  const anchor = isEnd ? undefined : onlyOne(before?.text)
  if (anchor !== undefined) return { start: anchor.next, end: anchor.next, text }
  const following = onlyOne(after?.text)
  if (following !== undefined) return { start: following.start, end: following.start, text }
  const at = body.length
  const lineEnd = lineEndOf(current.text)
  const gap =
    body === "" || body.endsWith("\n\n") ? "" : body.endsWith("\n") ? lineEnd : lineEnd + lineEnd
  return { start: at, end: at, text: gap + text }
}
