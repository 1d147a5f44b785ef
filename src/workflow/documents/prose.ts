import type { Line } from "./lines.ts"

/** What a line of Markdown is part of, as far as it decides whether its words mean something. */
export type LineKind = "front-matter" | "prose" | "code" | "comment"

export type MarkedLine = Line & {
  kind: LineKind
  isOpen: boolean // what comes after it is still code or comment
}

/** A line that is itself a whole comment is prose: our own markers are such lines. */
export function markLines(lines: readonly Line[]): MarkedLine[] {
  let state: State = { kind: "prose" }
  let at = frontMatterEnd(lines)
  const marked: MarkedLine[] = lines
    .slice(0, at)
    .map((line) => ({ ...line, kind: "front-matter", isOpen: line.number < at }))
  for (; at < lines.length; at += 1) {
    const line = lines[at]
    if (line === undefined) break
    const taken: Taken = take(state, line.text, lines, at)
    state = taken.state
    marked.push({ ...line, kind: taken.kind, isOpen: state.kind !== "prose" })
  }
  return marked
}

/** How many lines the front matter has, with both of its fences; 0 without one. */
export function frontMatterEnd(lines: readonly Line[]): number {
  const first = lines[0]?.text
  if (first === undefined || !isFrontMatterFence(first)) return 0
  const closing = lines.findIndex((line, at) => at > 0 && isFrontMatterFence(line.text))
  return closing < 0 ? 0 : closing + 1
}

function isFrontMatterFence(text: string): boolean {
  return /^---[ \t]*$/.test(text)
}

type State =
  | { kind: "prose" }
  | { kind: "code"; mark: string; length: number; isQuoted: boolean }
  | { kind: "comment" }

type Taken = { kind: LineKind; state: State }

const prose: State = { kind: "prose" }

function take(state: State, text: string, lines: readonly Line[], at: number): Taken {
  switch (state.kind) {
    case "code": {
      if (state.isQuoted && !/^\s*>/.test(text)) return take(prose, text, lines, at)
      const closes = closesFence(text, state)
      return { kind: "code", state: closes ? prose : state }
    }
    case "comment":
      return { kind: "comment", state: text.includes("-->") ? prose : state }
    case "prose": {
      const fence = openingFence(text)
      if (fence !== null) return { kind: "code", state: fence }
      if (opensComment(text, lines, at)) return { kind: "comment", state: { kind: "comment" } }
      return { kind: "prose", state }
    }
  }
}

/** Behind quotes and bullets, as in a list of steps. */
const fenceForm = /^(?:\s*(?:>|[-*+](?=\s)|\d{1,9}[.)](?=\s)))*\s*(`{3,}|~{3,})(.*)$/

function openingFence(text: string): State | null {
  const [, fence, info = ""] = fenceForm.exec(text) ?? []
  if (fence === undefined) return null
  const mark = fence.charAt(0)
  if (mark === "`" && info.includes("`")) return null // a code span of one line
  return { kind: "code", mark, length: fence.length, isQuoted: /^\s*>/.test(text) }
}

function closesFence(text: string, { mark, length }: { mark: string; length: number }): boolean {
  const rest = text.replace(/^[\s>]*/, "").trimEnd()
  return rest.length >= length && rest === mark.repeat(rest.length)
}

/** A comment that is open at the end of its line; one inside a paragraph must end with it. */
function opensComment(text: string, lines: readonly Line[], at: number): boolean {
  const opened = withoutCode(text).lastIndexOf("<!--")
  if (opened < 0 || withoutCode(text).indexOf("-->", opened) >= 0) return false
  if (/^\s*<!--/.test(text)) return true
  for (const { text: later } of lines.slice(at + 1)) {
    // A comment that begins a line ends a paragraph, as our own markers do.
    if (later.trim() === "" || /^\s*<!--/.test(later)) return false
    if (withoutCode(later).includes("-->")) return true
  }
  return false
}

/** Code spans as blanks: what stands in them means nothing. */
function withoutCode(text: string): string {
  return text.replace(/(`+)(?!`)(.*?[^`])\1(?!`)/g, (span) => " ".repeat(span.length))
}
