import type { Position, StreamName, TranscriptFacts } from "../../../../execution/record.ts"
import { countLineEnds } from "../../../../lib/vector/line-ends.ts"
import type { HeldBytes, HeldRun, Location, ReadPosition } from "../../../gateway/ports.ts"
import { type RecordHeader, recordFieldBytes } from "../format.ts"
import {
  readAt,
  readSegmentHeader,
  segmentNumbers,
  segmentPath,
  type TranscriptFiles,
} from "../segment-files.ts"
import type { Found, RecordFinder } from "./record-finder.ts"
import { headOf, type RecordPlace } from "./record-scan.ts"
import { lastSegment } from "./seek.ts"

/**
 * Checks a place that a client named: that a record begins there, or ends, or goes on, and that the
 * bytes it held back are those before it. Output may look like records, so nothing at the place is
 * believed: a walk from the head of its segment arrives there, or it is nowhere.
 */
export class Locator {
  readonly #finder: RecordFinder
  readonly #files: TranscriptFiles
  readonly #facts: TranscriptFacts

  constructor(finder: RecordFinder, files: TranscriptFiles, facts: TranscriptFacts) {
    this.#finder = finder
    this.#files = files
    this.#facts = facts
  }

  locate(position: ReadPosition, held: HeldBytes): Location {
    const { start, end } = this.#facts
    if (isPast(position, end)) return nowhere("it is past the end of the output")
    if (heldLength(held) === 0 && (isSame(position, start) || isSame(position, end))) {
      return found([])
    }
    const isBefore = position.sequence < start.sequence || position.segment < start.segment
    if (isBefore) return forgottenAt(position, held, start)
    return position.offset === 0
      ? this.#locateHead(position, held)
      : this.#locateRecord(position, held)
  }

  #locateHead(position: ReadPosition, held: HeldBytes): Location {
    const header = readSegmentHeader(this.#files, position.segment)
    if (header === "missing") return this.#locateMissing(position, held)
    if (header === "damaged") return damaged(position.sequence, "a segment's header is damaged")
    const head = { ...headOf(header), offset: 0 }
    return isSame(position, head) ? this.#proveHeld(held, countsAt(head, null, 0)) : noRecordThere
  }

  #locateRecord(position: ReadPosition, held: HeldBytes): Location {
    const { offset, segment, inside } = position
    const there = this.#finder.find(this.#files, segment, this.#facts.end, {
      isBefore: (place) => place.offset <= offset,
      isIt: (at) => at.offset >= offset,
    })
    switch (there.kind) {
      case "far":
        return there
      case "missing":
        return this.#locateMissing(position, held)
      case "damaged":
        if (there.at === null || !isSame(position, there.at)) return damagedAt(position, there)
        break // whoever reads on from there is told
      case "end":
        break
      case "record":
        if (inside > 0) return this.#locateInside(position, held, there.at, there.header)
    }
    return there.at !== null && isSame(position, there.at)
      ? this.#proveHeld(held, countsAt(there.at, null, 0))
      : noRecordThere
  }

  #locateInside(
    position: ReadPosition,
    held: HeldBytes,
    at: RecordPlace,
    header: RecordHeader,
  ): Location {
    const { offset, sequence, lines, inside } = position
    const isInside =
      header.kind !== "resize" &&
      at.offset === offset &&
      at.sequence + inside === sequence &&
      inside < header.length
    if (!isInside) return noRecordThere
    const before = this.#payload(at, 0, inside)
    return at.lines + countLineEnds(before) === lines
      ? this.#proveHeld(held, countsAt(at, header, inside))
      : noRecordThere
  }

  /** The writer forgets from the front, and may be ahead of what it has told. */
  #locateMissing(position: ReadPosition, held: HeldBytes): Location {
    const [oldest] = segmentNumbers(this.#files) ?? []
    if (oldest === undefined) return found([], heldLength(held)) // a reader is told that it is gone
    if (oldest <= position.segment) return damaged(position.sequence, "a segment is missing")
    const header = readSegmentHeader(this.#files, oldest)
    if (header === "missing") return this.#locateMissing(position, held)
    if (header === "damaged") return damaged(position.sequence, "the oldest segment is damaged")
    return forgottenAt(position, held, headOf(header))
  }

  /** That the bytes held back are the last ones of their streams, so many as came before. */
  #proveHeld(held: HeldBytes, before: Record<StreamName, number>): Location {
    const runs: HeldRun[] = []
    let forgottenBytes = 0
    for (const stream of ["stdout", "stderr"] as const) {
      if (held[stream].length === 0) continue
      const proven = this.#proveStream(stream, held[stream], before[stream])
      if (proven === "forgotten") forgottenBytes += held[stream].length
      else if (proven.kind !== "found") return proven
      else runs.push(...proven.held)
    }
    const inOrder = runs.toSorted((one, other) => one.sequence - other.sequence)
    return found(inOrder, forgottenBytes)
  }

  #proveStream(stream: StreamName, held: Uint8Array, before: number): Location | "forgotten" {
    if (held.length > before) return otherHeld
    const { end } = this.#facts
    let left = held
    let segment = this.#segmentOf(stream, before - left.length)
    const runs: HeldRun[] = []
    while (left.length > 0) {
      const first = before - left.length
      if (segment === "forgotten") return segment
      if (segment > end.segment) return otherHeld
      const there = this.#finder.find(this.#files, segment, end, {
        isBefore: (place) => bytesOf(stream, place) <= first,
        isIt: (at, { kind, length }) => kind === stream && bytesOf(stream, at) + length > first,
      })
      if (there.kind === "end") {
        segment += 1
        continue
      }
      if (there.kind === "missing") return "forgotten"
      if (there.kind === "far") return there
      if (there.kind === "damaged") return damaged(there.at?.sequence ?? 0, "no record begins here")
      const { at, header } = there
      const inside = first - bytesOf(stream, at)
      const bytes = this.#payload(at, inside, Math.min(left.length, header.length - inside))
      if (bytes.length === 0 || !left.subarray(0, bytes.length).every(isSameAs(bytes))) {
        return otherHeld
      }
      runs.push({ stream, bytes, sequence: at.sequence + inside, timeMs: header.timeMs })
      left = left.subarray(bytes.length)
    }
    return found(runs)
  }

  #segmentOf(stream: StreamName, first: number): number | "forgotten" {
    const segment = lastSegment(this.#files, this.#facts, (each) => each[stream].bytes <= first)
    return segment === null || segment[stream].bytes > first ? "forgotten" : segment.number
  }

  #payload(at: Position, inside: number, length: number): Uint8Array {
    const bytes = new Uint8Array(length)
    const path = segmentPath(this.#files, at.segment)
    const read = readAt(path, bytes, 0, length, at.offset + recordFieldBytes + inside) ?? 0
    return bytes.subarray(0, read)
  }
}

const noRecordThere = nowhere("no record begins or continues there")
const otherHeld = nowhere("what it holds back is not what was written")

function found(held: HeldRun[], forgottenBytes = 0): Location {
  return { kind: "found", held, forgottenBytes }
}

function nowhere(why: string): Location {
  return { kind: "nowhere", why }
}

function damaged(sequence: number, why: string): Location {
  return { kind: "damaged", sequence, why }
}

function damagedAt({ sequence }: ReadPosition, { at }: Extract<Found, { kind: "damaged" }>) {
  return at === null
    ? damaged(sequence, "a segment's header is damaged")
    : damaged(at.sequence, "no record begins here")
}

/** What is not there cannot be checked, but it can be told what cannot have been. */
function forgottenAt(position: ReadPosition, held: HeldBytes, start: Position): Location {
  const bytes = start.sequence - position.sequence
  const lines = start.lines - position.lines
  const isPossible =
    bytes >= (position.inside > 0 ? 1 : 0) &&
    lines >= 0 &&
    lines <= bytes &&
    position.segment <= start.segment &&
    heldLength(held) <= position.sequence
  return isPossible ? found([], heldLength(held)) : noRecordThere
}

function isPast({ segment, offset, sequence }: ReadPosition, end: Position): boolean {
  const isLater = segment > end.segment || (segment === end.segment && offset > end.offset)
  return isLater || sequence > end.sequence
}

function isSame(position: ReadPosition, at: Position): boolean {
  return (
    position.inside === 0 &&
    position.segment === at.segment &&
    position.offset === at.offset &&
    position.sequence === at.sequence &&
    position.lines === at.lines
  )
}

/** Of each stream, up to a place or some bytes into its record. */
function countsAt(
  at: RecordPlace,
  header: RecordHeader | null,
  inside: number,
): Record<StreamName, number> {
  const stdout = at.stdoutBytes + (header?.kind === "stdout" ? inside : 0)
  return { stdout, stderr: at.sequence + inside - stdout }
}

function bytesOf(stream: StreamName, { sequence, stdoutBytes }: RecordPlace): number {
  return stream === "stdout" ? stdoutBytes : sequence - stdoutBytes
}

function heldLength({ stdout, stderr }: HeldBytes): number {
  return stdout.length + stderr.length
}

function isSameAs(bytes: Uint8Array): (byte: number, index: number) => boolean {
  return (byte, index) => byte === bytes[index]
}
