import { type Failure, failure } from "../../../protocol/failure.ts"

/** A directory and its first file; further files replace earlier ones. */
const perExecution = 2

/** For the service's own files: another audit file, the list of trees. */
const spare = 16

/** Old transcripts are removed while there still is room for some starts. */
const headStart = 32

/** Whether there are inodes for one more transcript: a disk may have space, but none of them. */
export class InodeBudget {
  readonly #free: () => number
  readonly #running: () => number

  constructor(free: () => number, running: () => number) {
    this.#free = free
    this.#running = running
  }

  /** Also those that run need theirs: they may not have written anything yet. */
  hasRoom(): boolean {
    return this.#free() >= this.#needed()
  }

  refusal(): Failure | null {
    if (this.hasRoom()) return null
    const message =
      `The disk of the state directory has no room for more files: ${this.#free()} inodes are ` +
      "free, though there may be space. Remove files there, or executions with " +
      "`cc-executor prune`, then try again."
    return failure("DISK_FULL", message, { retry_after: 1 })
  }

  /** How many should be freed by removing what has ended. */
  missing(): number {
    return Math.max(0, this.#needed() + headStart - this.#free())
  }

  #needed(): number {
    return perExecution * (this.#running() + 1) + spare
  }
}
