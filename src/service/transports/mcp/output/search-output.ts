import type { StreamName } from "../../../../execution/record.ts"
import type { LinePattern } from "../../../../lib/pattern/line-pattern.ts"
import { ok, type Result } from "../../../../lib/result.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { Output } from "../../../../protocol/output-chunk.ts"
import type { McpScope } from "../ports.ts"
import { added, type Missing, mostReadBytes } from "./output-page.ts"
import { type LinePosition, type SearchedLine, SearchedLines, Slices } from "./searched-lines.ts"

export type SearchRequest = {
  executionId: string
  from: string
  stream: StreamName | null
  pattern: LinePattern
  contextLines: number
  mostBytes: number
  signal: AbortSignal
}

export type SearchResult = {
  /** As `grep -n -C` shows it: `12:match`, `11-context`, `--` where lines are left out. */
  text: string
  matches: number
  next: string
  ended: boolean
  /** Whether everything there is was looked at, but for a line that has no end yet. */
  isComplete: boolean
  gap: Missing | null
}

/** One call looks at so much, for so long; the next goes on from there. */
const mostSearchedBytes = 64 * mostReadBytes
const longestMs = 10_000

/** Numbered from where the search began; `next` never lies inside a line. */
export function searchOutput(
  scope: McpScope,
  request: SearchRequest,
): Promise<Result<SearchResult, Failure>> {
  // Whoever searches much waits for itself.
  return scope.searches.run(scope.caller, () => search(scope, request))
}

async function search(
  scope: McpScope,
  request: SearchRequest,
): Promise<Result<SearchResult, Failure>> {
  const { operations, caller } = scope
  const { executionId, stream, pattern, mostBytes, signal } = request
  const { cursor, known } = placeOf(request.from)
  const startedMs = scope.monotonicMs()
  const found = new FoundLines(request.contextLines)
  const lines = new SearchedLines(pattern, new Slices(scope), known)
  let at = cursor
  let gap: Missing | null = null
  for (let searchedBytes = 0; ; ) {
    const range = { executionId, from: at, form: "bytes", limitBytes: mostReadBytes } as const
    const read = await operations.readOutput(caller, range, copied)
    if (!read.ok) return read
    const { pieces, next, ended, more, sequence } = read.value
    if (read.value.gap !== null) lines.breakOff()
    gap = added(gap, read.value.gap)
    let before = read.value.gap?.next ?? at
    for (const piece of pieces) {
      const isWanted = piece.stream === (stream ?? piece.stream)
      searchedBytes += piece.bytes.length
      for await (const line of isWanted ? lines.look({ ...piece, before }) : []) {
        found.add(line)
        if (found.length >= mostBytes) return stopAt(lines.position(line.after), false)
      }
      before = piece.next
    }
    at = next
    if (ended) {
      for (const line of lines.endAll()) found.add(line)
      return result(next, true, true)
    }
    const end = { cursor: next, offset: 0, sequence }
    if (!more) return stopAt(lines.position(end), true)
    const isLate = scope.monotonicMs() - startedMs > longestMs
    if (searchedBytes < mostSearchedBytes && !isLate && !signal.aborted) continue
    // A line that is longer than all that may be looked at ends here.
    if (lines.completed === 0) for (const line of lines.endAll()) found.add(line)
    return stopAt(lines.position(end), false)
  }

  async function stopAt(position: LinePosition, isComplete: boolean) {
    const exact = await cursorAt(scope, executionId, position)
    if (!exact.ok) return exact
    const suffix = position.known === 0 ? "" : `~${position.known}`
    return result(`${exact.value}${suffix}`, false, isComplete)
  }

  function result(next: string, ended: boolean, isComplete: boolean) {
    return ok({ ...found.result(), next, ended, isComplete, gap })
  }
}

/** Where a piece is cut after a line, the record has a cursor. */
async function cursorAt(
  { operations, caller }: McpScope,
  executionId: string,
  { cursor, offset }: LinePosition,
): Promise<Result<string, Failure>> {
  if (offset === 0) return ok(cursor)
  const range = { executionId, from: cursor, form: "bytes", limitBytes: offset } as const
  const read = await operations.readOutput(caller, range, () => null)
  return read.ok ? ok(read.value.next) : read
}

/** `CURSOR~N`: of the lines that end after the cursor, the first N are known already. */
function placeOf(from: string): { cursor: string; known: number } {
  const [, cursor = from, known = "0"] = /^(.+)~(\d{1,9})$/.exec(from) ?? []
  return { cursor, known: Number(known) }
}

/** What is looked at slice by slice must stay meanwhile. */
function copied({ stream, bytes, sequence, next }: Output) {
  return { stream, bytes: bytes.slice(), sequence, next }
}

const mostLineCharacters = 400

/** Lines that match, and those around them, as text. */
class FoundLines {
  matches = 0
  /** In characters. */
  length = 0
  readonly #contextLines: number
  readonly #shown: string[] = []
  #before: string[] = []
  #after = 0
  #number = 0
  #lastShown = 0

  constructor(contextLines: number) {
    this.#contextLines = contextLines
  }

  add({ isMatch, head }: SearchedLine): void {
    this.#number += 1
    if (isMatch) {
      this.#addMatch(head)
      return
    }
    if (this.#contextLines === 0) return
    const text = `${this.#number}-${textOf(head)}`
    if (this.#after > 0) {
      this.#after -= 1
      this.#show(text)
      this.#lastShown = this.#number
      return
    }
    this.#before.push(text)
    if (this.#before.length > this.#contextLines) this.#before.shift()
  }

  result(): { text: string; matches: number } {
    return { text: this.#shown.join("\n"), matches: this.matches }
  }

  #addMatch(head: Uint8Array): void {
    const first = this.#number - this.#before.length
    if (this.#lastShown > 0 && first > this.#lastShown + 1) this.#show("--")
    for (const text of this.#before) this.#show(text)
    this.#before = []
    this.#show(`${this.#number}:${textOf(head)}`)
    this.matches += 1
    this.#after = this.#contextLines
    this.#lastShown = this.#number
  }

  #show(text: string): void {
    this.#shown.push(text)
    this.length += text.length + 1
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

function textOf(head: Uint8Array): string {
  const text = decoder.decode(head)
  return text.length <= mostLineCharacters ? text : `${text.slice(0, mostLineCharacters)}…`
}
