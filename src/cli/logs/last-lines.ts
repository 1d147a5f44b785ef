import type { StreamName } from "../../execution/record.ts"
import { afterLineEnds, countLineEnds, lineEnd } from "../../lib/vector/line-ends.ts"
import type { LogChunk, LogEvent } from "./log-chunk.ts"

type Kept = { chunk: LogChunk; ends: number }

/** The last lines of one stream, and the cursor after everything that was looked at. */
export async function lastLines(
  events: AsyncIterable<LogEvent>,
  stream: StreamName,
  count: number,
  from: string,
): Promise<{ chunks: LogChunk[]; next: string }> {
  const kept: Kept[] = []
  let ends = 0
  let next = from
  for await (const event of events) {
    if (event.kind === "gap") continue
    next = event.next
    if (event.stream !== stream) continue
    const last = { chunk: event, ends: countLineEnds(event.bytes) }
    kept.push(last)
    ends += last.ends
    // What is left begins inside a line: it needs one line end more than there are lines to keep.
    while (kept[0] !== undefined && ends - kept[0].ends > count) ends -= kept.shift()?.ends ?? 0
  }
  const isUnfinished = (kept.at(-1)?.chunk.bytes.at(-1) ?? lineEnd) !== lineEnd
  const surplus = ends + (isUnfinished ? 1 : 0) - count
  return { chunks: count === 0 ? [] : withoutFirstLines(kept, surplus), next }
}

function withoutFirstLines(kept: readonly Kept[], surplus: number): LogChunk[] {
  let left = surplus
  return kept.flatMap(({ chunk, ends }) => {
    if (left <= 0) return [chunk]
    const at = left > ends ? chunk.bytes.length : afterLineEnds(chunk.bytes, left)
    left -= ends
    return at >= chunk.bytes.length ? [] : [{ ...chunk, bytes: chunk.bytes.subarray(at) }]
  })
}
