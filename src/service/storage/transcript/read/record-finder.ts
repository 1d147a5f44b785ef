import type { Position } from "../../../../execution/record.ts"
import type { RecordHeader } from "../format.ts"
import { readSegmentHeader, type TranscriptFiles } from "../segment-files.ts"
import { headOf, type RecordPlace, RecordScan } from "./record-scan.ts"

/** A record, or the place where the search ended without one. */
export type Found =
  | { kind: "record"; at: RecordPlace; header: RecordHeader }
  | { kind: "end"; at: RecordPlace }
  | { kind: "damaged"; at: RecordPlace | null }
  | { kind: "missing" }
  /** It takes longer than one turn: ask again, the search goes on from there. */
  | { kind: "far" }

/** The first record of a segment of which something holds. */
type Wanted = {
  /** Whether the search may begin at a place. */
  isBefore: (place: RecordPlace) => boolean
  isIt: (at: RecordPlace, header: RecordHeader) => boolean
}

/** So far apart are the places that are remembered, at least: of a file, in bytes. */
const spacingBytes = 64 * 1024
/** For two gibibytes of transcripts; some three megabytes of memory. */
const mostPlaces = 32 * 1024
/** One or two milliseconds: others of the process are served between two turns. */
const mostCost = 16 * 1024

/**
 * Finds records by walking from the head of their segment, and remembers a place now and then: the
 * next search goes on from there. So where a record begins is never taken from a client, nor from
 * the payload of another record, and whoever pages through a transcript walks each part of it once.
 */
export class RecordFinder {
  /** By transcript and segment, in the order of last use. */
  readonly #places = new Map<string, RecordPlace[]>()
  #count = 0

  find(files: TranscriptFiles, segment: number, end: Position, { isBefore, isIt }: Wanted): Found {
    const places = this.#placesOf(files, segment)
    if (typeof places === "string") {
      return places === "missing" ? { kind: "missing" } : { kind: "damaged", at: null }
    }
    const start = places.findLast(isBefore) ?? places[0]
    if (start === undefined) return { kind: "missing" }
    using scan = new RecordScan(files, start, end)
    while (scan.read()) {
      const { at, header } = scan
      if (isIt(at, header)) return { kind: "record", at: { ...at }, header: { ...header } }
      if (scan.cost > mostCost) {
        this.#remember(places, at, 1)
        return { kind: "far" }
      }
      scan.pass()
      this.#remember(places, at, spacingBytes)
    }
    switch (scan.end) {
      case "complete":
        return { kind: "end", at: { ...scan.at } }
      case "missing":
        return { kind: "missing" }
      default:
        return { kind: "damaged", at: { ...scan.at } }
    }
  }

  #placesOf(files: TranscriptFiles, segment: number): RecordPlace[] | "missing" | "damaged" {
    const key = `${files.executionId}/${segment}`
    const known = this.#places.get(key)
    if (known !== undefined) {
      this.#places.delete(key)
      this.#places.set(key, known)
      return known
    }
    const header = readSegmentHeader(files, segment)
    if (typeof header === "string") return header
    const places = [headOf(header)]
    this.#places.set(key, places)
    this.#count += 1
    this.#forgetOldest()
    return places
  }

  #remember(places: RecordPlace[], at: RecordPlace, apartBytes: number): void {
    const last = places.at(-1)
    if (last === undefined || at.offset < last.offset + apartBytes) return
    places.push({ ...at })
    this.#count += 1
    this.#forgetOldest()
  }

  #forgetOldest(): void {
    for (const [key, places] of this.#places) {
      if (this.#count <= mostPlaces || this.#places.size === 1) return
      this.#places.delete(key)
      this.#count -= places.length
    }
  }
}
