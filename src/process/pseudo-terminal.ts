import type { TerminalSize } from "../execution/spec.ts"
import type { ChildInput, ChildOutput } from "../keeper/ports.ts"

const endOfTransmission = 4
const lineFeed = 10
const largestWriteBytes = 65_536
const drainLimitMs = 100

/**
 * The master side of a pseudo-terminal. It cannot be made to wait: what the child writes is here at
 * once, so the keeper takes it as fast as it comes.
 */
export class PseudoTerminal implements ChildOutput, ChildInput {
  /**
   * For Bun.spawn to make the terminal with. Only so does it become the child's controlling one:
   * a terminal made beforehand is passed on, but Ctrl-C and resizes would reach nobody.
   */
  readonly options: Bun.TerminalOptions
  readonly #arrived: Uint8Array[] = []
  #terminal: Bun.Terminal | null = null
  #isInsideLine = false
  #ended = false
  #wakeReader: (() => void) | null = null
  #wakeWriter: (() => void) | null = null

  constructor(size: TerminalSize) {
    this.options = {
      cols: size.cols,
      rows: size.rows,
      data: (_terminal, bytes) => {
        // The callback's buffer is not promised to stay.
        this.#arrived.push(new Uint8Array(bytes))
        this.#wakeReader?.()
      },
      exit: () => this.#end(),
      drain: () => this.#wakeWriter?.(),
    }
  }

  /** What Bun.spawn made of the options. */
  attach(terminal: Bun.Terminal): void {
    this.#terminal = terminal
  }

  async read(): Promise<Uint8Array | null> {
    while (true) {
      const bytes = this.#arrived.shift()
      if (bytes !== undefined) return bytes
      if (this.#ended) return null
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve
      })
    }
  }

  cancel(): void {
    this.#end()
  }

  async write(bytes: Uint8Array): Promise<number> {
    let taken = 0
    while (taken < bytes.length && !this.#ended) {
      const piece = bytes.subarray(taken, taken + largestWriteBytes)
      this.#terminal?.write(piece)
      this.#isInsideLine = piece.at(-1) !== lineFeed
      taken += piece.length
      // `drain` does not come for a write that went out at once: never wait for it alone.
      if (taken < bytes.length) await this.#drained()
    }
    return taken
  }

  /**
   * A terminal has no end of input but the character that says so. Inside a line, the first one
   * only hands the child what was typed so far.
   */
  close(): void {
    if (this.#ended) return
    const times = this.#isInsideLine ? 2 : 1
    this.#terminal?.write(new Uint8Array(times).fill(endOfTransmission))
    this.#isInsideLine = false
  }

  resize(size: TerminalSize): void {
    if (!this.#ended) this.#terminal?.resize(size.cols, size.rows)
  }

  [Symbol.dispose](): void {
    this.#end()
    if (this.#terminal?.closed === false) this.#terminal.close()
  }

  #end(): void {
    this.#ended = true
    this.#wakeReader?.()
    this.#wakeWriter?.()
  }

  #drained(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, drainLimitMs)
      this.#wakeWriter = done
      function done() {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
