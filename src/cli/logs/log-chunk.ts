import type { Client } from "../../client/connect.ts"
import type { StreamName } from "../../execution/record.ts"
import { afterLineEnds, countLineEnds, lineEnd } from "../../lib/vector/line-ends.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { GapNotice } from "../../protocol/methods.ts"

/** Output of one stream, and where it goes on after it. */
export type LogChunk = {
  kind: "output"
  stream: StreamName
  bytes: Uint8Array
  time: string
  next: string
}

export type LogEvent = LogChunk | ({ kind: "gap" } & Pick<GapNotice, "bytes" | "lines" | "reason">)

const pageBytes = 4 * 1024 * 1024

/** What had been written when the view was taken: one that writes without end is not chased. */
export async function* pastOutput(
  client: Client,
  view: ExecutionView,
  from: string,
): AsyncGenerator<LogEvent, void, void> {
  const { execution_id } = view
  const end = view.bytes.stdout + view.bytes.stderr
  const params = { execution_id, limit_bytes: pageBytes, encoding: "base64" } as const
  for (let cursor = from; ; ) {
    const page = await client.call("transcript.read", { ...params, from: cursor })
    if (page.gap !== undefined) yield { kind: "gap", ...page.gap }
    let reached = 0
    for (const { type: stream, data, sequence, time, next } of page.chunks) {
      const bytes = Uint8Array.fromBase64(data)
      yield { kind: "output", stream, bytes, time, next }
      reached = sequence + bytes.length
    }
    if (page.chunks.length === 0 || page.ended || reached >= end) return
    cursor = page.next
  }
}

/** Everything from a cursor on, until the execution has ended, or nobody wants more. */
export async function* followedOutput(
  client: Client,
  executionId: string,
  from: string,
  until?: AbortSignal,
): AsyncGenerator<LogEvent, void, void> {
  const options = { from, role: "observer", encoding: "base64" } as const
  const execution = await client.attach(executionId, options)
  until?.addEventListener("abort", () => void execution.detach())
  for await (const event of execution.output()) {
    if (event.kind === "gap") yield event
    if (event.kind !== "output") continue
    const { stream, bytes, time = "", next } = event
    yield { kind: "output", stream, bytes, time, next }
  }
}

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
