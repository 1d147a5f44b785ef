import type { StreamName } from "../execution/record.ts"
import { ok, type Result } from "../execution/result.ts"
import type { Failure } from "../protocol/failure.ts"
import type { McpScope } from "./ports.ts"

/** Bytes of one stream that lie side by side, and the cursors around the piece they are of. */
export type OutputBit = {
  stream: StreamName
  bytes: Uint8Array
  /** Output bytes of both streams before these. */
  sequence: number
  before: string
  next: string
}

export type OutputBits = {
  bits: OutputBit[]
  /** What stood before the first bit, and was forgotten. */
  gap: { bytes: number; lines: number } | null
  next: string
  /** Nothing will ever follow `next`. */
  ended: boolean
}

/** What `transcript.read` reads at once, where more is to be looked at than shown. */
export const mostReadBytes = 1024 * 1024

/**
 * Output from a cursor on, at least so much of it if it is there. A place inside a piece is the
 * cursor before the piece and how far the output has come at it: `CURSOR@SEQUENCE`.
 */
export async function readBits(
  { operations, caller }: McpScope,
  executionId: string,
  from: string,
  limitBytes: number,
): Promise<Result<OutputBits, Failure>> {
  const { cursor, sequence } = placeOf(from)
  const read = await operations.readTranscript(caller, {
    execution_id: executionId,
    from: cursor,
    limit_bytes: limitBytes,
    encoding: "base64",
  })
  if (!read.ok) return read
  const { chunks, gap, next, ended } = read.value
  let before = gap?.next ?? cursor
  const bits = chunks.map((chunk) => {
    const all = Uint8Array.fromBase64(chunk.data)
    const passed = Math.min(Math.max(0, sequence - chunk.sequence), all.length)
    const bit = {
      stream: chunk.type,
      bytes: all.subarray(passed),
      sequence: chunk.sequence + passed,
      before,
      next: chunk.next,
    }
    before = chunk.next
    return bit
  })
  const missed = gap === undefined ? null : { bytes: gap.bytes, lines: gap.lines }
  return ok({ bits, gap: missed, next, ended })
}

/** The place so many bytes into a bit. */
export function placeInside({ before, sequence }: OutputBit, bytes: number): string {
  return `${before}@${sequence + bytes}`
}

function placeOf(from: string): { cursor: string; sequence: number } {
  const [, cursor = from, sequence = "0"] = /^(.+)@(\d{1,15})$/.exec(from) ?? []
  return { cursor, sequence: Number(sequence) }
}
