import { lineEnd } from "../../lib/vector/line-ends.ts"
export type Line = { kind: "line"; text: string } | { kind: "too-long" }

/** Splits a stream of bytes into lines. One that is too long is reported once, and skipped. */
export class Lines {
  readonly #mostBytes: number
  #pieces: Uint8Array[] = []
  #heldBytes = 0
  #isSkipping = false

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
  }

  /** Empty lines are left out. */
  *take(chunk: Uint8Array): Generator<Line> {
    let start = 0
    while (start < chunk.length) {
      const end = chunk.indexOf(lineEnd, start)
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end)
      start = end < 0 ? chunk.length : end + 1
      if (this.#hold(piece)) yield { kind: "too-long" }
      if (end < 0) return
      const line = this.rest()
      if (line !== null) yield line
    }
  }

  /** What came after the last newline: at the end of a stream it is a line as well. */
  rest(): Line | null {
    const text = Buffer.concat(this.#pieces, this.#heldBytes).toString("utf8").trim()
    this.#pieces = []
    this.#heldBytes = 0
    this.#isSkipping = false
    return text === "" ? null : { kind: "line", text }
  }

  /** Whether this piece made the line too long. */
  #hold(piece: Uint8Array): boolean {
    if (this.#isSkipping) return false
    if (this.#heldBytes + piece.length > this.#mostBytes) {
      this.#pieces = []
      this.#heldBytes = 0
      this.#isSkipping = true
      return true
    }
    this.#pieces.push(piece.slice()) // the reader's buffer may be used again
    this.#heldBytes += piece.length
    return false
  }
}
