import { closeSync, readSync } from "node:fs"
import type { Position } from "../../../../execution/record.ts"
import { maxPayloadBytes } from "../../../../execution/record.ts"
import type { ReadPosition } from "../../../gateway/ports.ts"
import {
  readSegmentFields,
  recordFieldBytes,
  segmentFieldBytes,
  segmentHeaderBytes,
} from "../format.ts"
import { openForReading, segmentPath, type TranscriptFiles } from "../segment-files.ts"

// A record fits, and small ones up to the size of a piece with what lies between them.
const loadBytes = maxPayloadBytes + 8 * 1024
const minLoadBytes = 4 * 1024
// Room for a second segment behind the first: a piece goes on across their border.
const windowBytes = 2 * loadBytes

export type Load = "loaded" | "missing" | "no-room" | { kind: "damaged"; why: string }

/**
 * The part of the files a reader looks at: one buffer, used again for every read, filled from a
 * file that is open for no longer than that takes.
 */
export class SegmentWindow {
  readonly bytes = new Uint8Array(windowBytes)
  readonly view = new DataView(this.bytes.buffer)
  /** Where the next record begins; past what is filled when only its payload was loaded. */
  parsed = 0
  filled = 0
  /** Whether the file, or what is announced of it, has nothing after what is filled. */
  isFileEnd = false

  clear(): void {
    this.parsed = 0
    this.filled = 0
    this.isFileEnd = false
  }

  /**
   * Loads what is at a place, behind what is there already. Nothing has changed unless it is
   * loaded.
   */
  load(files: TranscriptFiles, position: ReadPosition, end: Position): Load {
    if (this.bytes.length - this.filled < minLoadBytes) return "no-room"
    const fd = openForReading(segmentPath(files, position.segment))
    if (fd === null) return "missing"
    try {
      const limit = position.segment === end.segment ? end.offset : Number.POSITIVE_INFINITY
      return position.offset === 0
        ? this.#loadSegment(fd, position, limit)
        : this.#loadRecords(fd, position, limit)
    } finally {
      closeSync(fd)
    }
  }

  #loadSegment(fd: number, position: ReadPosition, limit: number): Load {
    const at = this.filled
    const read = this.#read(fd, at, 0, limit)
    if (read < segmentHeaderBytes) return damaged("the segment's header is incomplete")
    const header = readSegmentFields(new DataView(this.bytes.buffer, at, segmentFieldBytes))
    const isRight =
      header !== null &&
      header.number === position.segment &&
      header.sequence === position.sequence &&
      header.lines === position.lines
    if (!isRight) return damaged("the segment does not go on where it should")
    this.parsed = at + segmentHeaderBytes
    this.filled = at + read
    return "loaded"
  }

  // What was taken of a record already is not read again: its header, and then the rest of it.
  #loadRecords(fd: number, position: ReadPosition, limit: number): Load {
    const at = this.filled
    let filled = at
    let fileOffset = position.offset
    if (position.inside > 0) {
      const header = readSync(fd, this.bytes, at, recordFieldBytes, fileOffset)
      if (header < recordFieldBytes) return damaged("no record begins here")
      filled += header
      fileOffset += header + position.inside
    }
    this.filled = filled + this.#read(fd, filled, fileOffset, limit)
    this.parsed = at
    return "loaded"
  }

  #read(fd: number, at: number, fileOffset: number, limit: number): number {
    const wanted = Math.min(loadBytes, this.bytes.length - at, Math.max(0, limit - fileOffset))
    const read = readSync(fd, this.bytes, at, wanted, fileOffset)
    this.isFileEnd = read < wanted || fileOffset + read === limit
    return read
  }
}

function damaged(why: string): Load {
  return { kind: "damaged", why }
}
