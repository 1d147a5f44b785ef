import { closeSync, writeSync } from "node:fs"
import { isErrno } from "../../../lib/errno.ts"
import type { ChildInput } from "../../keeper/ports.ts"
import { setNonblocking } from "../libc.ts"

const writesPerTurn = 16
const longestWaitMs = 32

/**
 * Writes to a child's pipe and knows exactly how much it took. Bun's own sink does not: it cannot
 * be given up while the pipe is full, and after EPIPE it swallows what it is given.
 */
export class PipeInput implements ChildInput {
  readonly #fd: number
  #isOpen = true
  #wake: (() => void) | null = null

  constructor(writeFd: number) {
    setNonblocking(writeFd)
    this.#fd = writeFd
  }

  /** Null when it is closed. */
  get descriptor(): number | null {
    return this.#isOpen ? this.#fd : null
  }

  async write(bytes: Uint8Array): Promise<number> {
    let taken = 0
    let writes = 0
    let waitMs = 1
    while (taken < bytes.length && this.#isOpen) {
      try {
        taken += writeSync(this.#fd, bytes, taken, bytes.length - taken)
        waitMs = 1
        writes += 1
        if (writes % writesPerTurn === 0) await this.#pause(0)
      } catch (error) {
        if (isErrno(error, "EPIPE", "EIO", "ECONNRESET"))
          this.close() // EIO: a terminal that nobody has open
        else if (!isErrno(error, "EAGAIN", "EINTR")) throw error
        else {
          await this.#pause(waitMs)
          waitMs = Math.min(waitMs * 2, longestWaitMs)
        }
      }
    }
    return taken
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    closeSync(this.#fd)
    this.#wake?.()
  }

  /** Gives the pipe itself to somebody else; what was not written yet never will be. */
  handOver(): number | null {
    if (!this.#isOpen) return null
    this.#isOpen = false
    this.#wake?.()
    return this.#fd
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, delayMs)
      this.#wake = done
      function done() {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
