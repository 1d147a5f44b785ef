import { fail, ok, type Result } from "../execution/result.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { InputResult } from "../protocol/methods.ts"
import type { ChildInput } from "./ports.ts"

/** Clients should have one request under way; a few more only wait their turn. */
const mostWaiting = 4

/**
 * Input in the order it was asked, each answered when the child's pipe took it. An offset makes a
 * request safe to repeat: what was taken before is not written again.
 */
export class InputQueue {
  readonly #input: ChildInput
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #taken = 0
  #isClosed = false

  constructor(input: ChildInput) {
    this.#input = input
  }

  /** Bytes the child's pipe has taken. */
  get taken(): number {
    return this.#taken
  }

  async write(
    data: Uint8Array,
    end: boolean,
    offset: number | undefined,
  ): Promise<Result<InputResult, Failure>> {
    if (this.#waiting >= mostWaiting) {
      const message = "Input is already waiting for the child to read: send one piece at a time."
      return fail(failure("RATE_LIMITED", message, { retry_after: 1, offset: this.#taken }))
    }
    this.#waiting += 1
    const turn = this.#tail.then(() => this.#write(data, end, offset ?? this.#taken))
    this.#tail = turn.finally(() => {
      this.#waiting -= 1
    })
    return turn
  }

  /** Gives up on what is still waiting. */
  close(): void {
    this.#isClosed = true
    this.#input.close()
  }

  async #write(
    data: Uint8Array,
    end: boolean,
    offset: number,
  ): Promise<Result<InputResult, Failure>> {
    if (offset > this.#taken) {
      const message = `Input at ${offset} leaves a hole: ${this.#taken} bytes were taken so far.`
      return fail(failure("INVALID_PARAMS", message, { offset: this.#taken }))
    }
    const rest = data.subarray(Math.min(data.length, this.#taken - offset))
    if (rest.length > 0 && this.#isClosed) return this.#refused(0)

    const taken = rest.length === 0 ? 0 : await this.#input.write(rest)
    this.#taken += taken
    if (taken < rest.length) {
      this.#isClosed = true
      return this.#refused(taken)
    }
    if (end) this.close()
    return ok({ accepted: taken, offset: this.#taken })
  }

  #refused(accepted: number): Result<never, Failure> {
    const message = "The child's standard input is closed: it takes no more."
    return fail(failure("WRONG_STATE", message, { accepted, offset: this.#taken }))
  }
}
