import type { StreamName } from "../execution/record.ts"
import { ok, type Result } from "../execution/result.ts"
import type { Failure } from "../protocol/failure.ts"
import type { LinePattern } from "../redaction/line-pattern.ts"
import { mostReadBytes, placeInside, readBits } from "./output-bits.ts"
import { OutputLines } from "./output-lines.ts"
import type { McpScope } from "./ports.ts"

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
  searchedBytes: number
  next: string
  ended: boolean
  /** Whether everything there is was looked at. */
  isComplete: boolean
  gap: { bytes: number; lines: number } | null
}

/** One call looks at so much; the next goes on from there. */
const mostSearchedBytes = 64 * mostReadBytes
const mostLineCharacters = 400

/** Lines that match, with the lines around them; numbered from where the search began. */
export async function searchOutput(
  scope: McpScope,
  request: SearchRequest,
): Promise<Result<SearchResult, Failure>> {
  const { executionId, from, stream, pattern, contextLines, mostBytes } = request
  const lines = new OutputLines()
  const found = new Found(pattern, contextLines)
  let at = from
  let searchedBytes = 0
  let gap: SearchResult["gap"] = null
  const result = (next: string, ended: boolean, isComplete: boolean) =>
    ok({ ...found.told(), searchedBytes, next, ended, isComplete, gap })
  for (;;) {
    const read = await readBits(scope, { executionId, from: at, stream, limitBytes: mostReadBytes })
    if (!read.ok) return read
    gap ??= read.value.gap
    for (const bit of read.value.bits) {
      for (const line of lines.add(bit)) {
        found.look(line.bytes)
        const isEnough = found.length >= mostBytes
        if (isEnough) return result(placeInside(bit, line.endsAt), false, false)
      }
    }
    const { next, ended, isFull, newBytes } = read.value
    searchedBytes += newBytes
    at = next
    const isAtEnd = ended || !isFull
    if (isAtEnd) for (const line of lines.rest()) found.look(line)
    if (isAtEnd) return result(next, ended, true)
    if (searchedBytes >= mostSearchedBytes || request.signal.aborted)
      return result(at, false, false)
  }
}

/** What was found so far, as text. */
class Found {
  matches = 0
  /** In characters. */
  length = 0
  readonly #pattern: LinePattern
  readonly #contextLines: number
  readonly #shown: string[] = []
  #before: string[] = []
  #after = 0
  #number = 0
  #lastShown = 0

  constructor(pattern: LinePattern, contextLines: number) {
    this.#pattern = pattern
    this.#contextLines = contextLines
  }

  look(line: Uint8Array): void {
    this.#number += 1
    if (this.#pattern.matches(line)) {
      const first = this.#number - this.#before.length
      if (this.#lastShown > 0 && first > this.#lastShown + 1) this.#show("--")
      for (const text of this.#before) this.#show(text)
      this.#before = []
      this.#show(`${this.#number}:${textOf(line)}`)
      this.matches += 1
      this.#after = this.#contextLines
      this.#lastShown = this.#number
      return
    }
    if (this.#contextLines === 0) return
    const text = `${this.#number}-${textOf(line)}`
    if (this.#after > 0) {
      this.#after -= 1
      this.#show(text)
      this.#lastShown = this.#number
      return
    }
    this.#before.push(text)
    if (this.#before.length > this.#contextLines) this.#before.shift()
  }

  told(): { text: string; matches: number } {
    return { text: this.#shown.join("\n"), matches: this.matches }
  }

  #show(text: string): void {
    this.#shown.push(text)
    this.length += text.length + 1
  }
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

function textOf(line: Uint8Array): string {
  const text = decoder.decode(line.subarray(0, mostLineCharacters * 4))
  return text.length <= mostLineCharacters ? text : `${text.slice(0, mostLineCharacters)}…`
}
