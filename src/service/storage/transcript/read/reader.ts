import type { ExecutionId } from "../../../../execution/id.ts"
import type { Position, TranscriptFacts } from "../../../../execution/record.ts"
import type { ReadOutcome, ReadPosition, TranscriptReader } from "../../../gateway/ports.ts"
import {
  filesOf,
  readSegmentHeader,
  segmentNumbers,
  type TranscriptFiles,
} from "../segment-files.ts"
import { Locator } from "./locate.ts"
import { PieceReader } from "./read-piece.ts"
import { RecordFinder } from "./record-finder.ts"
import { afterLine, seekTail, seekTailBytes, seekTime } from "./seek.ts"
import { verifyTranscript } from "./verify.ts"

/** Reads transcripts below a directory, alongside whoever writes them; it changes nothing there. */
export function createTranscriptReader(directory: string): TranscriptReader {
  const pieces = new PieceReader()
  const finder = new RecordFinder()
  const files = (id: ExecutionId) => filesOf(directory, id)
  return {
    read: (id, position, facts, mostBytes, sizes) =>
      readPiece(pieces, files(id), position, facts, mostBytes, sizes),
    locate: (id, { position, held }, facts) =>
      new Locator(finder, files(id), facts).locate(position, held),
    tail: (id, facts, back) =>
      "lines" in back
        ? seekTail(files(id), facts, back.lines)
        : seekTailBytes(files(id), facts, back.bytes),
    line: (id, facts, lines) => afterLine(files(id), facts, lines),
    since: (id, facts, time) => seekTime(files(id), facts, time),
    verify: (id, facts, claim) => verifyTranscript(files(id), facts, claim),
  }
}

function readPiece(
  pieces: PieceReader,
  files: TranscriptFiles,
  position: ReadPosition,
  facts: TranscriptFacts,
  mostBytes?: number,
  sizes?: "with-sizes",
): ReadOutcome {
  const { start, end } = facts
  // A cursor can be ahead of the facts: of a gateway that was restarted, until the next are told.
  const isAtEnd = position.sequence >= end.sequence
  if (isAtEnd && (sizes === undefined || isPast(position, end))) return { kind: "at-end" }
  if (position.sequence < start.sequence) return { kind: "forgotten", next: readPositionAt(start) }
  const { sequence } = position
  if (isPast(position, end)) return { kind: "damaged", sequence, why: "no record begins here" }

  // At the end of a segment that is forgotten is at the start of the one after it.
  const from = position.segment < start.segment ? readPositionAt(start) : position
  const outcome = pieces.read(files, from, facts, mostBytes, sizes)
  switch (outcome.kind) {
    case "piece":
    case "resized":
    case "at-end":
      return outcome
    case "damaged":
      return { kind: "damaged", sequence, why: outcome.why }
    case "missing":
      return afterMissing(pieces, files, from, facts, mostBytes, sizes)
  }
}

/**
 * The writer forgets from the front and may be ahead of the facts, so a segment that is missing
 * before the oldest one there was forgotten. Missing among others, it was lost.
 */
function afterMissing(
  pieces: PieceReader,
  files: TranscriptFiles,
  position: ReadPosition,
  facts: TranscriptFacts,
  mostBytes?: number,
  sizes?: "with-sizes",
): ReadOutcome {
  const { sequence } = position
  const [oldest] = segmentNumbers(files) ?? []
  if (oldest === undefined) return { kind: "expired" }
  if (oldest <= position.segment) return { kind: "damaged", sequence, why: "a segment is missing" }
  const header = readSegmentHeader(files, oldest)
  if (header === "missing") return afterMissing(pieces, files, position, facts, mostBytes, sizes)
  if (header === "damaged" || header.sequence < sequence) {
    return { kind: "damaged", sequence, why: "the oldest segment is damaged" }
  }
  const start = { segment: oldest, offset: 0, sequence: header.sequence, lines: header.lines }
  return header.sequence === sequence
    ? readPiece(pieces, files, readPositionAt(start), { ...facts, start }, mostBytes, sizes)
    : { kind: "forgotten", next: readPositionAt(start) }
}

function isPast(position: ReadPosition, end: Position): boolean {
  const { segment, offset } = position
  return segment > end.segment || (segment === end.segment && offset >= end.offset)
}

function readPositionAt(position: Position): ReadPosition {
  const { segment, offset, sequence, lines } = position
  return { segment, offset, sequence, lines, inside: 0 }
}
