import { hasEnded } from "../execution/record.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import type { Failure } from "../protocol/failure.ts"
import type { GapNotice, OutputChunk, ParsedParamsOf, ResultOf } from "../protocol/methods.ts"
import { outputChunk } from "../protocol/output-chunk.ts"
import type { OutputFeed } from "./ports.ts"

/** A page of a transcript: what is there now, up to a limit. */
export function readChunks(
  feed: OutputFeed,
  params: Pick<ParsedParamsOf<"transcript.read">, "limit_bytes" | "encoding">,
): Result<ResultOf<"transcript.read">, Failure> {
  const chunks: OutputChunk[] = []
  let gap: GapNotice | null = null
  let bytes = 0
  let next = feed.from
  let ended = false
  const form = params.encoding === "utf8" ? "text" : "bytes"
  while (bytes < params.limit_bytes && !ended) {
    const event = feed.next(form)
    if (event === null) break
    switch (event.kind) {
      case "output":
        chunks.push(outputChunk(event, params.encoding))
        bytes += event.bytes.length
        next = event.next
        break
      case "gap": {
        // Told in the page it is in front of: one inside a page begins the next one.
        if (chunks.length > 0) return page()
        gap = joined(gap, event)
        next = event.next
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
    return ok({ chunks, next, ended, ...(gap === null ? {} : { gap }) })
  }
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
