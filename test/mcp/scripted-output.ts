import type { StreamName } from "../../src/execution/record.ts"
import { ok } from "../../src/execution/result.ts"
import type { McpScope } from "../../src/mcp/ports.ts"
import { FakeOperations } from "../http/fake-operations.ts"
import { localUser } from "../support/callers.ts"
import { NotedRefusals } from "../support/noted.ts"
import { QuietLog } from "../support/quiet-log.ts"

export type Written = { stream: StreamName; bytes: Uint8Array }

/** A scope in which an execution has written just this, in these pieces. */
export function scopeOf(written: readonly Written[], { ended = true } = {}): McpScope {
  const operations = new FakeOperations()
  operations.readTranscript = async (_caller, { from, limit_bytes }) => {
    const chunks = []
    let index = startIndex(written, from)
    let length = 0
    for (; index < written.length && length < limit_bytes; index++) {
      const piece = written[index]
      if (piece === undefined) break
      length += piece.bytes.length
      chunks.push({
        type: piece.stream,
        data: piece.bytes.toBase64(),
        encoding: "base64" as const,
        sequence: sequenceAt(written, index),
        next: `c${index + 1}`,
        time: "2026-11-17T08:00:00.000Z",
        truncated: false,
      })
    }
    return ok({ chunks, next: `c${index}`, ended: ended && index === written.length })
  }
  return {
    operations,
    caller: localUser,
    refusals: new NotedRefusals(),
    version: "1.2.3",
    log: new QuietLog(),
    monotonicMs: () => 0,
    after: () => ({ [Symbol.dispose]: () => undefined }),
  }
}

function startIndex(written: readonly Written[], from: string): number {
  if (from === "start") return 0
  const lines = /^tail:(\d+)$/.exec(from)?.[1]
  if (lines === undefined) return Number(from.slice(1))
  // The piece in which the first of these lines begins: tests let lines begin with pieces.
  const ends = written.map(({ bytes }) => bytes.filter((byte) => byte === 0x0a).length)
  let index = written.length
  for (let seen = 0; index > 0; index--) {
    seen += ends[index - 1] ?? 0
    if (seen > Number(lines)) break
  }
  return index
}

function sequenceAt(written: readonly Written[], index: number): number {
  return written.slice(0, index).reduce((sum, { bytes }) => sum + bytes.length, 0)
}
