import type { StreamName } from "../../../../execution/record.ts"
import type { LinePattern, LineScan } from "../../../../lib/pattern/line-pattern.ts"
import { lineEnd } from "../../../../lib/vector/line-ends.ts"
import type { McpScope } from "../ports.ts"

/** Bytes of one stream, and the cursor before them. */
export type SearchedPiece = {
  stream: StreamName
  bytes: Uint8Array
  sequence: number
  before: string
}

export type SearchedLine = {
  isMatch: boolean
  /** Its first bytes: as much as is ever shown. */
  head: Uint8Array
  after: OutputPosition
}

/** So many bytes after a cursor. */
type OutputPosition = { cursor: string; offset: number; sequence: number }

/** Where to go on, and how many of the lines that end after it were looked at already. */
export type LinePosition = OutputPosition & { known: number }

type Unfinished = { scan: LineScan; head: number[]; start: OutputPosition; completedBefore: number }

const mostHeadBytes = 1600
/** What is scanned without a look at the clock. */
const sliceBytes = 4096

/** Lines of both streams, in the order in which they end; a long one is not kept whole. */
export class SearchedLines {
  completed = 0
  readonly #pattern: LinePattern
  readonly #slices: Slices
  readonly #known: number
  readonly #unfinished: Record<StreamName, Unfinished | null> = { stdout: null, stderr: null }

  constructor(pattern: LinePattern, slices: Slices, known: number) {
    this.#pattern = pattern
    this.#slices = slices
    this.#known = known
  }

  async *look({ stream, bytes, sequence, before }: SearchedPiece): AsyncGenerator<SearchedLine> {
    let start = 0
    while (start < bytes.length) {
      const end = bytes.indexOf(lineEnd, start)
      const position = { cursor: before, offset: start, sequence: sequence + start }
      const line = (this.#unfinished[stream] ??= this.#begin(position))
      await this.#scan(line, bytes.subarray(start, end < 0 ? bytes.length : end))
      if (end < 0) return
      start = end + 1
      const after = { cursor: before, offset: start, sequence: sequence + start }
      const ended = this.#end(stream, line, after)
      if (this.completed > this.#known) yield ended
    }
  }

  /** Where the first unfinished line begins, or the given place if there is none before it. */
  position(stop: OutputPosition): LinePosition {
    let first: LinePosition = { ...stop, known: 0 }
    for (const line of [this.#unfinished.stdout, this.#unfinished.stderr]) {
      if (line === null || line.start.sequence >= first.sequence) continue
      first = { ...line.start, known: this.completed - line.completedBefore }
    }
    return first
  }

  /** What no line end has followed, and none will. */
  endAll(): SearchedLine[] {
    const streams = ["stdout", "stderr"] as const
    return streams.flatMap((stream) => {
      const line = this.#unfinished[stream]
      return line === null ? [] : [this.#end(stream, line, line.start)]
    })
  }

  /** The rest of what was begun is gone: whether it would have matched nobody knows. */
  breakOff(): void {
    for (const line of [this.#unfinished.stdout, this.#unfinished.stderr]) line?.scan.end()
    this.#unfinished.stdout = null
    this.#unfinished.stderr = null
  }

  #begin(start: OutputPosition): Unfinished {
    return { scan: this.#pattern.begin(), head: [], start, completedBefore: this.completed }
  }

  async #scan({ scan, head }: Unfinished, bytes: Uint8Array): Promise<void> {
    if (head.length < mostHeadBytes) head.push(...bytes.subarray(0, mostHeadBytes - head.length))
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      scan.push(bytes.subarray(at, at + sliceBytes))
      await this.#slices.rest()
    }
  }

  #end(stream: StreamName, { scan, head }: Unfinished, after: OutputPosition): SearchedLine {
    this.#unfinished[stream] = null
    this.completed += 1
    return { isMatch: scan.end(), head: Uint8Array.from(head), after }
  }
}

const longestSliceMs = 4
const longestRestMs = 50

/** Long work in short slices, with a rest as long as each took: others have half of the time. */
export class Slices {
  readonly #scope: Pick<McpScope, "monotonicMs" | "after">
  #startedMs: number

  constructor(scope: Pick<McpScope, "monotonicMs" | "after">) {
    this.#scope = scope
    this.#startedMs = scope.monotonicMs()
  }

  /** To be called often: it comes back at once unless a slice is over. */
  async rest(): Promise<void> {
    const tookMs = this.#scope.monotonicMs() - this.#startedMs
    if (tookMs < longestSliceMs) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#scope.after(Math.min(tookMs, longestRestMs), resolve)
    await promise
    this.#startedMs = this.#scope.monotonicMs()
  }
}
