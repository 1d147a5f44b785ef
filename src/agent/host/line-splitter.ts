/** What is longer is passed on in parts, and never held as a whole. */
const mostLineBytes = 1024 * 1024
const partBytes = 256 * 1024
/** Of a long line that must be understood, a question say, this much is held all the same. */
const mostHeldBytes = 16 * 1024 * 1024
const headBytes = 4096

export type LineEvents = {
  line(text: string): void
  part(part: { text: string; part: number; isLast: boolean }): void
  /** A long line that had to be understood, as a whole; null when it was too long even for that. */
  heldLine(text: string | null): void
}

/**
 * Makes lines of bytes, with a bound on what is in memory. Of a long line, `mustHold` decides by
 * its beginning whether it is also given as a whole.
 */
export class LineSplitter {
  readonly #events: LineEvents
  readonly #mustHold: (head: string) => boolean
  #pieces: Uint8Array[] = []
  #bytes = 0
  #long: LongLine | null = null

  constructor(events: LineEvents, mustHold: (head: string) => boolean) {
    this.#events = events
    this.#mustHold = mustHold
  }

  push(bytes: Uint8Array): void {
    let from = 0
    for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
      this.#take(bytes.subarray(from, end))
      this.#endLine()
      from = end + 1
    }
    this.#take(bytes.subarray(from))
  }

  /** Nothing more comes: what is left is the last line, though nothing ended it. */
  end(): void {
    if (this.#bytes > 0 || this.#long !== null) this.#endLine()
  }

  #take(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    if (this.#long !== null) {
      this.#long.push(bytes)
      return
    }
    this.#pieces.push(bytes.slice()) // the buffer is the reader's, and is used again
    this.#bytes += bytes.length
    if (this.#bytes <= mostLineBytes) return
    const beginning = Buffer.concat(this.#pieces)
    this.#forget()
    const isHeld = this.#mustHold(beginning.toString("utf8", 0, headBytes))
    this.#long = new LongLine(this.#events, isHeld)
    this.#long.push(beginning)
  }

  #endLine(): void {
    const long = this.#long
    if (long !== null) {
      this.#long = null
      long.end()
      return
    }
    const text = Buffer.concat(this.#pieces).toString("utf8")
    this.#forget()
    if (text !== "") this.#events.line(text)
  }

  #forget(): void {
    this.#pieces = []
    this.#bytes = 0
  }
}

class LongLine {
  readonly #events: LineEvents
  readonly #decoder = new TextDecoder()
  #held: Uint8Array[] | null
  #heldBytes = 0
  readonly #isHeld: boolean
  #text = ""
  #parts = 0

  constructor(events: LineEvents, isHeld: boolean) {
    this.#events = events
    this.#isHeld = isHeld
    this.#held = isHeld ? [] : null
  }

  push(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += partBytes) {
      const piece = bytes.subarray(at, at + partBytes)
      this.#text += this.#decoder.decode(piece, { stream: true })
      if (this.#text.length >= partBytes) this.#tell(false)
    }
    if (this.#held === null) return
    this.#heldBytes += bytes.length
    if (this.#heldBytes > mostHeldBytes) this.#held = null
    else this.#held.push(bytes.slice())
  }

  end(): void {
    this.#text += this.#decoder.decode()
    this.#tell(true)
    if (!this.#isHeld) return
    const whole = this.#held === null ? null : Buffer.concat(this.#held).toString("utf8")
    this.#events.heldLine(whole)
  }

  #tell(isLast: boolean): void {
    this.#events.part({ text: this.#text, part: this.#parts, isLast })
    this.#text = ""
    this.#parts += 1
  }
}
