import { lineEnd } from "../../../../lib/vector/line-ends.ts"
import type { ReadPosition } from "../../../gateway/ports.ts"
import { recordOverheadBytes } from "../format.ts"

/** Where a record that was gathered begins, and how much of the run came before it. */
export type Step = {
  segment: number
  offset: number
  inside: number
  length: number
  runLength: number
}

/** A record as it was before it was gathered; the lines are those up to its last line end. */
export type Mark = Step & { sequence: number; linesAfter: number }

export const nothing = { segment: 0, offset: 0, inside: 0, length: 0 }

/** Up to a line end in its second half, if there is one. */
export function shorterLength(bytes: Uint8Array, mostBytes: number): number {
  const afterLine = bytes.lastIndexOf(lineEnd, mostBytes - 1) + 1
  return afterLine > mostBytes / 2 ? afterLine : mostBytes
}

export function afterMark(mark: Mark, runLength: number): ReadPosition {
  const taken = runLength - mark.runLength
  const isWhole = mark.inside + taken === mark.length
  return {
    segment: mark.segment,
    offset: isWhole ? mark.offset + recordOverheadBytes + mark.length : mark.offset,
    sequence: mark.sequence + taken,
    lines: mark.linesAfter,
    inside: isWhole ? 0 : mark.inside + taken,
  }
}
