import type { StreamName } from "../../execution/record.ts"
import type { OutputChunk } from "../../protocol/methods.ts"

/** A line of output, of both streams in the order they were written. */
export type Row = {
  /** Line ends before it. */
  line: number
  parts: { stream: StreamName; text: string }[]
  time: string
  /** Its beginning is not here. */
  isCutBefore: boolean
  /** Characters that are not kept: nobody reads a line of a megabyte on one line. */
  omitted: number
  /** Its end is here, too. */
  isWhole: boolean
}

/** What is kept of a line. */
const mostCharacters = 8_192

/** Puts lines together from chunks as they come, one behind the other. */
export class RowReader {
  #open: Row | null = null
  #startsInside: boolean

  /** A place that is not known to begin a line may lie inside one. */
  constructor(startsInside: boolean) {
    this.#startsInside = startsInside
  }

  /** The line that has no end yet, as far as it has come. */
  get open(): Row | null {
    return this.#open
  }

  read(chunks: readonly OutputChunk[]): Row[] {
    const whole: Row[] = []
    for (const { type, data, line = 0, time } of chunks) {
      const texts = data.split("\n")
      for (const [index, text] of texts.entries()) {
        const isLast = index === texts.length - 1
        if (isLast && text === "") break
        const row = (this.#open ??= this.#begin(line + index, time))
        add(row, type, text)
        if (isLast) break
        whole.push({ ...row, isWhole: true })
        this.#open = null
      }
    }
    return whole
  }

  #begin(line: number, time: string): Row {
    const isCutBefore = this.#startsInside
    this.#startsInside = false
    return { line, parts: [], time, isCutBefore, omitted: 0, isWhole: false }
  }
}

/** What a row takes of memory besides its text, in characters: lines may be very short. */
const overhead = 200

export function weightOf(row: Row): number {
  return lengthOf(row) + overhead
}

function lengthOf({ parts }: Row): number {
  return parts.reduce((sum, { text }) => sum + text.length, 0)
}

function add(row: Row, stream: StreamName, text: string): void {
  const room = Math.max(0, mostCharacters - lengthOf(row))
  row.omitted += Math.max(0, text.length - room)
  const kept = text.slice(0, room)
  const last = row.parts.at(-1)
  if (last?.stream === stream) last.text += kept
  else if (kept !== "") row.parts.push({ stream, text: kept })
}
