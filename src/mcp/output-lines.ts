import type { StreamName } from "../execution/record.ts"
import type { OutputBit } from "./output-bits.ts"

export type OutputLine = {
  /** Without the line end. */
  bytes: Uint8Array
  /** Where the line ends in the bit it was completed by. */
  endsAt: number
}

const lineEnd = 0x0a
const nothing = new Uint8Array(0)
/** A longer line is taken for several: it would have to be held in memory. */
const mostLineBytes = 64 * 1024

/** Puts the lines of two streams together from bits, in the order in which they were completed. */
export class OutputLines {
  readonly #unfinished: Record<StreamName, Uint8Array> = { stdout: nothing, stderr: nothing }

  /** What no line end has followed. */
  rest(): Uint8Array[] {
    const { stdout, stderr } = this.#unfinished
    return [stdout, stderr].filter((line) => line.length > 0)
  }

  *add({ stream, bytes }: OutputBit): Generator<OutputLine> {
    let start = 0
    for (;;) {
      const end = bytes.indexOf(lineEnd, start)
      const before = this.#unfinished[stream]
      const piece = bytes.subarray(start, end < 0 ? bytes.length : end)
      const line = before.length === 0 ? piece : Buffer.concat([before, piece])
      if (end < 0 && line.length <= mostLineBytes) {
        this.#unfinished[stream] = line.slice() // a bit's bytes are part of something larger
        return
      }
      this.#unfinished[stream] = nothing
      const endsAt = end < 0 ? bytes.length : end + 1
      yield { bytes: line, endsAt }
      if (end < 0) return
      start = endsAt
    }
  }
}
