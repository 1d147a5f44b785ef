import { closeSync } from "node:fs"
import { isErrno } from "../../../lib/errno.ts"
import type { ChildOutput } from "../../keeper/ports.ts"
import { duplicate, makePipe, replaceDescriptor } from "../libc.ts"
import { descriptorsOf, meaningOf } from "../own-descriptors.ts"

/**
 * Reads our end of a child's pipe, or the master side of a terminal. Bun keeps a duplicate of the
 * descriptor for its stream and closes that one at the end; ours can go as soon as the stream has
 * been opened.
 */
export class PipeOutput implements ChildOutput {
  readonly #reader: ReturnType<typeof openReader>
  readonly #meaning: string | null
  #isOver = false
  /** Of the read that is under way. */
  #answer: ((bytes: Uint8Array | null) => void) | null = null

  constructor(readFd: number) {
    this.#meaning = meaningOf(readFd)
    this.#reader = openReader(readFd)
    closeSync(readFd)
  }

  read(): Promise<Uint8Array | null> {
    if (this.#isOver) return Promise.resolve(null)
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array | null>()
    this.#answer = resolve
    const came = ({ done, value }: { done: boolean; value?: Uint8Array | undefined }) => {
      this.#answer = null
      if (done) this.#isOver = true
      resolve(value ?? null)
    }
    const failed = (error: unknown) => {
      this.#isOver = true
      if (isErrno(error, "EIO"))
        resolve(null) // a terminal that nobody has open any more
      else reject(error)
    }
    void this.#reader.read().then(came, failed)
    return promise
  }

  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    // A pending read answers "done". The stream's own failure to close has no consequence for us.
    this.#reader.cancel().catch(() => undefined)
  }

  /** After it, what Bun had read ahead is still read, and then nothing. */
  handOver(): number | null {
    const held = this.#isOver || this.#meaning === null ? [] : descriptorsOf(this.#meaning)
    const kept = detachFromBun(held)
    if (kept !== null) this.#endWhenQuiet(0)
    return kept
  }

  /** A read that waits for the child's next byte would wait for ever now. */
  #endWhenQuiet(turns: number): void {
    const asked = this.#answer
    setImmediate(() => {
      if (this.#isOver) return
      const isQuiet = asked !== null && asked === this.#answer
      if (!isQuiet || turns < quietTurns) return this.#endWhenQuiet(isQuiet ? turns + 1 : 0)
      this.#isOver = true
      asked(null)
    })
  }
}

function openReader(fd: number) {
  return Bun.file(fd).stream().getReader()
}

/** What Bun had read when a descriptor was taken from it arrives within two turns of its loop. */
export const quietTurns = 4

/**
 * Takes a pipe or terminal out of Bun's hands, by all the descriptors that Bun has of it, and
 * answers another one; null when there is none. Bun reads ahead of those who ask, and what it has
 * read is nowhere else. So its descriptors are made to mean a pipe at its end: from then on it
 * takes nothing from the child, and what it has taken is read to that end.
 */
export function detachFromBun(descriptors: readonly number[]): number | null {
  const [first] = descriptors
  if (first === undefined) return null
  const kept = duplicate(first)
  const nothing = makePipe()
  closeSync(nothing.writeFd)
  for (const fd of descriptors) replaceDescriptor(fd, nothing.readFd)
  closeSync(nothing.readFd)
  return kept
}
