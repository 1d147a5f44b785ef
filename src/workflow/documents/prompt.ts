import type { Digest } from "../../execution/trial/announcement.ts"
import { ok, type Result } from "../../lib/result.ts"
import { type ClaimedCounts, claimedCounts } from "./claimed-counts.ts"
import { type CodeBlock, implementationBlock } from "./code-block.ts"
import { ownLines, readWorkText, type WorkText } from "./document.ts"
import type { DocumentFault } from "./fault.ts"
import { versionOf } from "./version.ts"

/** Whose words a file uses: ours, or one of the two forms of the first generation. */
export type Dialect = "own" | "form-a" | "form-b"

export type Prompt = WorkText & {
  kind: "prompt"
  dialect: Dialect
  version: Digest
  body: string // what the agent is given: all but front matter and what is ours
  code: CodeBlock | null // the Implementation Code Block
  claimed: ClaimedCounts | null // counts that were written there before us
  recoveryTests: { title: string; line: number }[] // as prose: only those in `recovery` run
}

export function readPrompt(text: string): Result<Prompt, DocumentFault> {
  const read = readWorkText(text)
  if (!read.ok) return read
  const own = ownLines(read.value)
  const body = own.filter(({ kind }) => kind !== "front-matter")
  return ok({
    ...read.value,
    kind: "prompt",
    dialect: dialectOf(read.value),
    version: versionOf(own.map((line) => line.text)),
    body: body.map(({ start, next }) => text.slice(start, next)).join(""),
    code: implementationBlock(read.value),
    claimed: claimedCounts(own),
    recoveryTests: recoveryTestsIn(body),
  })
}

/** What an act may not have changed: the prompt without the code block and without our regions. */
export function versionWithoutCode(prompt: Prompt): Digest {
  const { code } = prompt
  const kept = ownLines(prompt).filter(
    ({ start }) => code === null || start < code.start || start >= code.end,
  )
  return versionOf(kept.map((line) => line.text))
}

function dialectOf({ lines }: WorkText): Dialect {
  const headings = lines.filter(({ kind, text }) => kind === "prose" && text.startsWith("#"))
  if (headings.some(({ text }) => /TASK METRICS & HISTORY/i.test(text))) return "form-a"
  if (headings.some(({ text }) => /GAMIFICATION METRICS/i.test(text))) return "form-b"
  return "own"
}

function recoveryTestsIn(lines: WorkText["lines"]): Prompt["recoveryTests"] {
  const found: Prompt["recoveryTests"] = []
  let depth = 0 // of the heading of the section, 0 outside of it
  for (const { kind, text, number } of lines) {
    const [, marks, title = ""] = kind === "prose" ? (/^(#{1,6})\s+(.*)$/.exec(text) ?? []) : []
    if (marks === undefined) continue
    if (depth > 0 && marks.length > depth) found.push({ title: title.trim(), line: number })
    else depth = /\bRECOVERY\b/i.test(title) ? marks.length : 0
  }
  return found
}
