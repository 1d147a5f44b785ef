import type { StreamName } from "../execution/record.ts"
import { ok, type Result } from "../execution/result.ts"
import type { Failure } from "../protocol/failure.ts"
import type { OutputChunk } from "../protocol/methods.ts"
import type { McpScope } from "./ports.ts"

/** Bytes of one stream that follow each other in what is read. */
export type OutputBit = {
  stream: StreamName
  bytes: Uint8Array
  /** Output bytes of both streams before these. */
  sequence: number
  /** The pieces they were put together from: where each begins here, and in the record. */
  readonly pieces: readonly Piece[]
}

type Piece = { start: number; sequence: number; cursor: string }

export type OutputBits = {
  bits: OutputBit[]
  /** What stood before the first bit, and was forgotten. */
  gap: { bytes: number; lines: number } | null
  next: string
  /** Output bytes of both streams before `next`; null where nothing was read. */
  sequence: number | null
  /** Nothing will ever follow `next`. */
  ended: boolean
  /** How much was read, of both streams. */
  newBytes: number
  /** As much was read as was asked for: there may be more. */
  isFull: boolean
}

export type BitsRequest = {
  executionId: string
  from: string
  /** Null for both. */
  stream: StreamName | null
  limitBytes: number
}

/** What `transcript.read` reads at once, where more is to be looked at than shown. */
export const mostReadBytes = 1024 * 1024
/** Of the piece that a place lies in, so much may have been passed already. */
const mostPassedBytes = 64 * 1024

/**
 * Output from a cursor on, at least so much of it if it is there. A place inside a piece is the
 * cursor before the piece and how far the output has come at it: `CURSOR@SEQUENCE`.
 */
export async function readBits(
  { operations, caller }: McpScope,
  { executionId, from, stream, limitBytes }: BitsRequest,
): Promise<Result<OutputBits, Failure>> {
  const { cursor, sequence: passed } = placeOf(from)
  const read = await operations.readTranscript(caller, {
    execution_id: executionId,
    from: cursor,
    limit_bytes: limitBytes + (passed === 0 ? 0 : mostPassedBytes),
    encoding: "base64",
  })
  if (!read.ok) return read
  const { chunks, gap, next, ended } = read.value
  const gathered = new GatheredBits(gap?.next ?? cursor, passed, stream)
  for (const chunk of chunks) gathered.add(chunk)
  return ok({
    bits: gathered.bits(),
    gap: gap === undefined ? null : { bytes: gap.bytes, lines: gap.lines },
    next,
    sequence: gathered.sequence,
    ended,
    newBytes: gathered.newBytes,
    isFull: gathered.newBytes >= limitBytes,
  })
}

/** The place so many bytes into a bit. */
export function placeInside(bit: OutputBit, bytes: number): string {
  return `${pieceAt(bit, bytes).cursor}@${sequenceInside(bit, bytes)}`
}

/** Output bytes of both streams before that place. */
export function sequenceInside(bit: OutputBit, bytes: number): number {
  const { sequence, start } = pieceAt(bit, bytes)
  return sequence + bytes - start
}

function pieceAt({ pieces, sequence }: OutputBit, bytes: number): Piece {
  const piece = pieces.findLast(({ start }) => start <= bytes)
  if (piece === undefined) throw new Error(`the bit at ${sequence} has no pieces`)
  return piece
}

function placeOf(from: string): { cursor: string; sequence: number } {
  const [, cursor = from, sequence = "0"] = /^(.+)@(\d{1,15})$/.exec(from) ?? []
  return { cursor, sequence: Number(sequence) }
}

type Gathering = { stream: StreamName; parts: Uint8Array[]; pieces: Piece[]; length: number }

/** Puts together what follows each other, so that no character is torn where pieces meet. */
class GatheredBits {
  /** Without what had been passed before. */
  newBytes = 0
  sequence: number | null = null
  readonly #passed: number
  readonly #wanted: StreamName | null
  readonly #gathered: Gathering[] = []
  #cursor: string

  constructor(cursor: string, passed: number, wanted: StreamName | null) {
    this.#cursor = cursor
    this.#passed = passed
    this.#wanted = wanted
  }

  add(chunk: OutputChunk): void {
    const all = Uint8Array.fromBase64(chunk.data)
    const passed = Math.min(Math.max(0, this.#passed - chunk.sequence), all.length)
    const bytes = all.subarray(passed)
    const cursor = this.#cursor
    const sequence = chunk.sequence + passed
    this.#cursor = chunk.next
    this.newBytes += bytes.length
    this.sequence = sequence + bytes.length
    if (bytes.length === 0 || (this.#wanted ?? chunk.type) !== chunk.type) return
    const last = this.#gathered.at(-1)
    if (last?.stream === chunk.type) {
      last.pieces.push({ start: last.length, sequence, cursor })
      last.parts.push(bytes)
      last.length += bytes.length
      return
    }
    const pieces = [{ start: 0, sequence, cursor }]
    this.#gathered.push({ stream: chunk.type, parts: [bytes], pieces, length: bytes.length })
  }

  bits(): OutputBit[] {
    return this.#gathered.map(({ stream, parts, pieces }) => {
      const [only] = parts
      const bytes = parts.length === 1 && only !== undefined ? only : Buffer.concat(parts)
      return { stream, bytes, sequence: pieces[0]?.sequence ?? 0, pieces }
    })
  }
}
