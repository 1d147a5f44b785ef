import type { ParsedParamsOf, ResultOf } from "../../protocol/methods.ts"
import type { Output } from "../../protocol/output-chunk.ts"
import type { OutputPage, OutputRequest } from "../../protocol/output-page.ts"
import { decodeCursor } from "../../service/gateway/operations/cursor.ts"

const mostBytes = 8 * 1024 * 1024
const encoder = new TextEncoder()

/** A page of output, asked for as the native protocol has it. */
export function pageRequest({
  executionId: execution_id,
  from,
  form,
  limitBytes,
}: OutputRequest): ParsedParamsOf<"transcript.read"> {
  const encoding = form === "text" ? "utf8" : "base64"
  return { execution_id, from, limit_bytes: Math.min(limitBytes, mostBytes), encoding }
}

/** What the answer holds, without its encoding. */
export function pageOf<Kept>(
  page: ResultOf<"transcript.read">,
  keep: (output: Output) => Kept,
): OutputPage<Kept> {
  const { chunks, next, ended, gap = null, more = false } = page
  const pieces = chunks.map((chunk) =>
    keep({
      stream: chunk.type,
      bytes:
        chunk.encoding === "base64"
          ? Uint8Array.fromBase64(chunk.data)
          : encoder.encode(chunk.data),
      lossy: chunk.lossy ?? 0,
      sequence: chunk.sequence,
      line: chunk.line ?? 0,
      timeMs: Date.parse(chunk.time),
      next: chunk.next,
      endsInsideLine: chunk.truncated,
    }),
  )
  const sequence = page.sequence ?? decodeCursor(next)?.position.sequence ?? 0
  return { pieces, next, sequence, more, ended, gap }
}
