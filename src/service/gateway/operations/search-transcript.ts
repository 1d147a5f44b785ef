import { setImmediate } from "node:timers/promises"
import type { StreamName } from "../../../execution/record.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { findInAnyCase } from "../../../lib/vector/find-in-any-case.ts"
import { countLineEnds, lineEnd } from "../../../lib/vector/line-ends.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { GapNotice, ParsedParamsOf, ResultOf } from "../../../protocol/methods.ts"
import type { FeedEvent, OutputFeed } from "../ports.ts"
import { joinedGap } from "./read-chunks.ts"

type Match = ResultOf<"transcript.search">["matches"][number]
type Piece = Extract<FeedEvent, { kind: "output" }>

/** One request looks for so long; the next goes on from there, and others are served between. */
const longestMs = 150
const restAfterMs = 4
/** And in the middle of a line, which may end soon. */
const longestInLineMs = 4 * longestMs

/** What is shown of a line: so much before the match, and of the whole. */
const shownBefore = 120
const mostShown = 400

type SearchedFeed = Pick<OutputFeed, "next" | "cursor" | "passedBytes">

/** The lines that have a text in them, each once. */
export async function searchTranscript(
  feed: SearchedFeed,
  params: Pick<ParsedParamsOf<"transcript.search">, "text" | "ignore_case" | "stream" | "limit">,
  nowMs = () => performance.now(),
): Promise<Result<ResultOf<"transcript.search">, Failure>> {
  const search = new PieceSearch(params.text, params.ignore_case)
  const matches: Match[] = []
  let gap: GapNotice | null = null
  const startedMs = nowMs()
  let restedMs = startedMs
  const from = feed.passedBytes()
  while (true) {
    const event = feed.next("bytes")
    const atMs = nowMs()
    if (event === null || event.kind === "ended") return page(feed.cursor(), true)
    if (event.kind === "failed") return fail(event.failure)
    if (event.kind === "gap") gap = joinedGap(gap, event)
    if (event.kind === "output" && event.stream === (params.stream ?? event.stream)) {
      for (const match of search.matchesIn(event)) {
        matches.push(match)
        if (matches.length >= params.limit) return page(`line:${match.line + 1}`, false)
      }
    }
    const { openFrom } = search
    if (atMs - startedMs > (openFrom === null ? longestMs : longestInLineMs)) {
      return page(openFrom === null ? feed.cursor() : `at:${openFrom}`, false)
    }
    if (atMs - restedMs > restAfterMs) {
      await setImmediate()
      restedMs = nowMs()
    }
  }

  function page(next: string, complete: boolean) {
    const searched_bytes = Math.max(0, feed.passedBytes() - from)
    const found = { matches, next, complete, searched_bytes }
    return ok(gap === null ? found : { ...found, gap })
  }
}

/** Finds the first match of every line in pieces that come in order. */
class PieceSearch {
  readonly #find: (bytes: Buffer, from: number) => number
  readonly #longest: number
  /** The end of a line that is not over, by stream: a match may lie across two pieces. */
  readonly #carried: Record<StreamName, Buffer> = { stdout: nothing, stderr: nothing }
  /** Where that begins, in output bytes of both streams; or before it. */
  readonly #carriedFrom: Record<StreamName, number> = { stdout: 0, stderr: 0 }
  #reportedLine = -1

  constructor(text: string, ignoreCase: boolean) {
    const needle = Buffer.from(text)
    this.#longest = needle.length
    const hasCases = ignoreCase && /[A-Za-z]/.test(text)
    this.#find = hasCases ? findInAnyCase(needle) : (bytes, from) => bytes.indexOf(needle, from)
  }

  *matchesIn({ stream, bytes, sequence, line, timeMs }: Piece): Generator<Match> {
    const carried = this.#carried[stream]
    const all = carried.length === 0 ? viewOf(bytes) : Buffer.concat([carried, viewOf(bytes)])
    let counted = 0
    let lineNumber = line
    let at = this.#find(all, 0)
    while (at !== -1) {
      lineNumber += countLineEnds(all.subarray(counted, at))
      counted = at
      if (lineNumber !== this.#reportedLine) {
        this.#reportedLine = lineNumber
        const place = sequence + at - carried.length
        yield { line: lineNumber, sequence: place, stream, ...shown(all, at), time: iso(timeMs) }
      }
      const end = all.indexOf(lineEnd, at)
      at = end === -1 ? -1 : this.#find(all, end)
    }
    const rest = this.#restOf(all)
    this.#carried[stream] = rest
    if (rest.length <= bytes.length) {
      this.#carriedFrom[stream] = sequence + bytes.length - rest.length
    }
  }

  /** From where what comes next has to be searched again; null where no match can lie across. */
  get openFrom(): number | null {
    const open = streams.filter((stream) => this.#carried[stream].length > 0)
    return open.length === 0 ? null : Math.min(...open.map((one) => this.#carriedFrom[one]))
  }

  #restOf(all: Buffer): Buffer {
    if (all.at(-1) === lineEnd || this.#longest === 1) return nothing
    const rest = all.subarray(
      Math.max(all.lastIndexOf(lineEnd) + 1, all.length + 1 - this.#longest),
    )
    return Buffer.from(rest)
  }
}

const nothing = Buffer.alloc(0)
const streams = ["stdout", "stderr"] as const

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })

/** The line around a match, as far as it is here, and where in it the match begins. */
function shown(all: Buffer, at: number): { text: string; at: number } {
  const lineStart = all.lastIndexOf(lineEnd, at) + 1
  const start = characterStart(all, Math.max(lineStart, at - shownBefore))
  const end = all.indexOf(lineEnd, at)
  const lineStop = end === -1 ? all.length : end
  const stop = characterStart(all, Math.min(lineStop, start + mostShown))
  const before = decoder.decode(all.subarray(start, at))
  return { text: decoder.decode(all.subarray(start, Math.max(at, stop))), at: before.length }
}

/** At or before a place, so that no character is cut in two. */
function characterStart(bytes: Buffer, place: number): number {
  let at = place
  while (at > 0 && place - at < 3 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1
  return at
}

function iso(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
