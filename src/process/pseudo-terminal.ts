import type { TerminalSize } from "../execution/spec.ts"
import type { ChildInput, ChildOutput } from "../keeper/ports.ts"

const endOfTransmission = new Uint8Array([4])
const largestWriteBytes = 65_536
const drainLimitMs = 100

/**
 * The master side of a pseudo-terminal. It cannot be made to wait: what the child writes is here at
 * once, so the keeper takes it as fast as it comes.
 */
export class PseudoTerminal implements ChildOutput, ChildInput {
  readonly #arrived: Uint8Array[] = []
  readonly terminal: Bun.Terminal
  #ended = false
  #wakeReader: (() => void) | null = null
  #wakeWriter: (() => void) | null = null

  constructor(size: TerminalSize) {
    this.terminal = new Bun.Terminal({
      cols: size.cols,
      rows: size.rows,
      data: (_terminal, bytes) => {
        // The callback's buffer is not promised to stay.
        this.#arrived.push(new Uint8Array(bytes))
        this.#wakeReader?.()
      },
      exit: () => this.#end(),
      drain: () => this.#wakeWriter?.(),
    })
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
      this.terminal.write(piece)
      taken += piece.length
      // `drain` does not come for a write that went out at once: never wait for it alone.
      if (taken < bytes.length) await this.#drained()
    }
    return taken
  }

  /** A terminal has no end of input but the character that says so. */
  close(): void {
    if (!this.#ended) this.terminal.write(endOfTransmission)
  }

  resize(size: TerminalSize): void {
    if (!this.#ended) this.terminal.resize(size.cols, size.rows)
  }

  [Symbol.dispose](): void {
    this.#end()
    if (!this.terminal.closed) this.terminal.close()
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
