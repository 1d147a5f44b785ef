import { maxPayloadBytes } from "../../../../execution/record.ts"
import type { Budget } from "../../../../execution/spec.ts"
import { afterLineEnds, countLineEnds } from "../../../../lib/vector/line-ends.ts"

/** What a budget means in segments: how much each may hold, and when there are too many. */
export type Shares = {
  budgetBytes: number
  budgetLines: number // Infinity when there is no limit
  /** Of files, not of output: a record of one byte takes sixty more on disk. */
  budgetFileBytes: number
  segmentBytes: number
  segmentLines: number
  segmentFileBytes: number
  /** One append is cut into records of at most this. */
  recordBytes: number
  recordLines: number
}

const segmentsPerBudget = 16
const minSegmentBytes = 64
const maxSegmentBytes = 64 * 1024 * 1024
const minBlockRecordBytes = 4 * 1024
const fileBytesPerOutputByte = 4
const minFileBytes = 1024 * 1024
const maxReadBytes = 64 * 1024 // what the keeper takes from a pipe at a time

export function sharesOf(budget: Budget): Shares {
  const share = Math.floor(budget.bytes / segmentsPerBudget)
  const segmentBytes = Math.min(maxSegmentBytes, Math.max(minSegmentBytes, share))
  const lines = budget.lines ?? Number.POSITIVE_INFINITY
  const segmentLines = Math.max(1, Math.floor(lines / segmentsPerBudget))
  const budgetFileBytes = minFileBytes + budget.bytes * fileBytesPerOutputByte
  // Where the oldest goes, no record is more than a segment's share. Where the child waits instead,
  // all of a read stays until it is taken: a segment may hold too much, rather than be one of
  // hundreds.
  const isBlock = budget.policy === "block"
  const recordBytes = isBlock ? Math.max(minBlockRecordBytes, segmentBytes) : segmentBytes
  return {
    budgetBytes: budget.bytes,
    budgetLines: lines,
    budgetFileBytes,
    segmentBytes,
    segmentLines,
    segmentFileBytes: minFileBytes / segmentsPerBudget + segmentBytes * fileBytesPerOutputByte,
    recordBytes: Math.min(maxPayloadBytes, recordBytes),
    recordLines: isBlock ? Number.POSITIVE_INFINITY : segmentLines,
  }
}

/** Output and files, of one segment or of all that is kept. */
export type Extent = { bytes: number; lines: number; fileBytes: number }

export function isOver(shares: Shares, kept: Extent): boolean {
  return (
    kept.bytes > shares.budgetBytes ||
    kept.lines > shares.budgetLines ||
    kept.fileBytes > shares.budgetFileBytes
  )
}

/**
 * Whether one more read may go over the budget. Below 128 KiB that would be always, and the child
 * would wait for ever; there it is from half the budget on.
 */
export function isNearlyOver(shares: Shares, kept: Extent): boolean {
  const room = Math.min(maxReadBytes, Math.floor(shares.budgetBytes / 2))
  return (
    kept.bytes + room > shares.budgetBytes ||
    kept.lines >= shares.budgetLines ||
    kept.fileBytes + 2 * maxReadBytes > shares.budgetFileBytes
  )
}

/** How much of the beginning of one append its own rest would push out again. */
export function excessOf({ budgetBytes, budgetLines }: Shares, bytes: Uint8Array): number {
  const excessBytes = Math.max(0, bytes.length - budgetBytes)
  if (bytes.length <= budgetLines) return excessBytes
  const excessLines = countLineEnds(bytes) - budgetLines
  return excessLines > 0 ? Math.max(excessBytes, afterLineEnds(bytes, excessLines)) : excessBytes
}

/** A record goes into the segment unless that would make it more than its share. */
export function fits(shares: Shares, segment: Extent, record: Extent): boolean {
  return (
    segment.bytes + record.bytes <= shares.segmentBytes &&
    segment.lines + record.lines <= shares.segmentLines &&
    segment.fileBytes + record.fileBytes <= shares.segmentFileBytes
  )
}
