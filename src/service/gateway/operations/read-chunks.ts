import { hasEnded } from "../../../execution/record.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Failure } from "../../../protocol/failure.ts"
import type { GapNotice, OutputChunk, ParsedParamsOf, ResultOf } from "../../../protocol/methods.ts"
import { outputChunk } from "../../../protocol/output-chunk.ts"
import type { OutputFeed } from "../ports.ts"

/** A page of a transcript: what is there now, up to a limit. */
export function readChunks(
  feed: OutputFeed,
  params: Pick<ParsedParamsOf<"transcript.read">, "limit_bytes" | "encoding">,
): Result<ResultOf<"transcript.read">, Failure> {
  const chunks: OutputChunk[] = []
  let gap: GapNotice | null = null
  const startBytes = feed.position().sequence
  let bytes = 0
  let next = feed.from
  let sequence = feed.passedBytes()
  let ended = false
  let isFull = false
  const form = params.encoding === "utf8" ? "text" : "bytes"
  while (bytes < params.limit_bytes && !ended && !isFull) {
    const event = feed.next(form, params.limit_bytes - bytes)
    if (event === null) break
    switch (event.kind) {
      case "output":
        chunks.push(outputChunk(event, params.encoding))
        bytes = feed.position().sequence - startBytes
        next = event.next
        sequence = feed.passedBytes()
        // What little would fit yet is not worth a line that is cut in two.
        isFull = !event.endsInsideLine && isAlmostFull(bytes, params.limit_bytes)
        break
      case "gap": {
        // Told in the page it is in front of: one inside a page begins the next one.
        if (chunks.length > 0) return page()
        gap = joined(gap, event)
        next = event.next
        sequence = feed.passedBytes()
        break
      }
      case "failed":
        return fail(event.failure)
      case "ended":
        ended = true
        break
      case "state":
        break
    }
  }
  // In a full page the cursor says where to go on, and one look ahead whether there is anything.
  if (!ended && hasEnded(feed.record())) ended = feed.next(form)?.kind === "ended"
  return page()

  function page(): Result<ResultOf<"transcript.read">, Failure> {
    const more = sequence < feed.record().transcript.end.sequence
    return ok({ chunks, next, sequence, more, ended, ...(gap === null ? {} : { gap }) })
  }
}

const pieceBytes = 64 * 1024

function isAlmostFull(bytes: number, limitBytes: number): boolean {
  return bytes > limitBytes / 2 && limitBytes - bytes < pieceBytes
}

/** Two gaps with nothing between them are one. */
function joined(before: GapNotice | null, { from, next, bytes, lines, reason }: GapNotice) {
  return {
    from: before?.from ?? from,
    next,
    bytes: (before?.bytes ?? 0) + bytes,
    lines: (before?.lines ?? 0) + lines,
    reason,
  }
}
