import { hasEnded } from "../../../execution/record.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { GapNotice, ParsedParamsOf, ResultOf } from "../../../protocol/methods.ts"
import { type Output, outputChunk } from "../../../protocol/output-chunk.ts"
import type { OutputPage, OutputRequest } from "../../../protocol/output-page.ts"
import type { OutputFeed } from "../ports.ts"

/** A page of a transcript as the native protocol and HTTP carry it. */
export function readChunks(
  feed: OutputFeed,
  {
    limit_bytes: limitBytes,
    encoding,
  }: Pick<ParsedParamsOf<"transcript.read">, "limit_bytes" | "encoding">,
): Result<ResultOf<"transcript.read">, Failure> {
  const form = encoding === "utf8" ? "text" : "bytes"
  const read = readPage(feed, { form, limitBytes }, (output) => ({
    ...outputChunk(output, encoding),
    line: output.line,
  }))
  if (!read.ok) return read
  const { pieces: chunks, gap, ...page } = read.value
  return ok({ chunks, ...page, ...(gap === null ? {} : { gap }) })
}

/** A page of output: what is there now, up to a limit. */
export function readPage<Kept>(
  feed: OutputFeed,
  { form, limitBytes }: Pick<OutputRequest, "form" | "limitBytes">,
  keep: (output: Output) => Kept,
): Result<OutputPage<Kept>, Failure> {
  const pieces: Kept[] = []
  let gap: GapNotice | null = null
  const startBytes = feed.position().sequence
  let bytes = 0
  let next = feed.from
  let sequence = feed.passedBytes()
  let ended = false
  let isFull = false
  while (bytes < limitBytes && !ended && !isFull) {
    const event = feed.next(form, limitBytes - bytes)
    if (event === null) break
    switch (event.kind) {
      case "output":
        pieces.push(keep(event))
        bytes = feed.position().sequence - startBytes
        next = event.next
        sequence = feed.passedBytes()
        // What little would fit yet is not worth a line that is cut in two.
        isFull = !event.endsInsideLine && isAlmostFull(bytes, limitBytes)
        break
      case "gap": {
        // Told in the page it is in front of: one inside a page begins the next one.
        if (pieces.length > 0) return page()
        gap = joinedGap(gap, event)
        next = event.next
        sequence = feed.passedBytes()
        break
      }
      case "failed":
        return fail(event.failure)
      case "ended":
        ended = true
        break
      case "resized":
      case "state":
        break
    }
  }
  // In a full page the cursor says where to go on, and one look ahead whether there is anything.
  if (!ended && hasEnded(feed.record())) ended = feed.next(form)?.kind === "ended"
  return page()

  function page(): Result<OutputPage<Kept>, Failure> {
    const more = sequence < feed.record().transcript.end.sequence
    return ok({ pieces, next, sequence, more, ended, gap })
  }
}

const pieceBytes = 64 * 1024

function isAlmostFull(bytes: number, limitBytes: number): boolean {
  return bytes > limitBytes / 2 && limitBytes - bytes < pieceBytes
}

/** Two gaps with nothing between them are one. */
export function joinedGap(
  before: GapNotice | null,
  { from, next, bytes, lines, reason }: GapNotice,
) {
  return {
    from: before?.from ?? from,
    next,
    bytes: (before?.bytes ?? 0) + bytes,
    lines: (before?.lines ?? 0) + lines,
    reason,
  }
}
