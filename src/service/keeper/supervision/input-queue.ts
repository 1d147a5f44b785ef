import { fail, ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { InputResult } from "../../../protocol/methods.ts"
import type { ChildInput } from "../ports.ts"

/** Clients should have one request under way; a few more only wait their turn. */
const mostWaiting = 4
/** About what a pipe holds: a slow reader is seen to take input piece by piece. */
const pieceBytes = 65_536

/**
 * Input in the order it was asked, each answered when the child's pipe took it. An offset makes a
 * request safe to repeat: what was taken before is not written again.
 */
export class InputQueue {
  readonly #input: ChildInput
  readonly #onTaken: () => void
  readonly #queue = new SerialQueue()
  #taken: number
  #isClosed: boolean
  #isReleased = false

  constructor(
    input: ChildInput,
    onTaken: () => void,
    before: { taken: number; isClosed: boolean } = { taken: 0, isClosed: false },
  ) {
    this.#input = input
    this.#onTaken = onTaken
    this.#taken = before.taken
    this.#isClosed = before.isClosed
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get taken(): number {
    return this.#taken
  }

  async write(
    data: Uint8Array,
    end: boolean,
    offset: number | undefined,
  ): Promise<Result<InputResult, Failure>> {
    if (this.#queue.unfinished >= mostWaiting) {
      const message =
        "Earlier input is still waiting for the child to read: send one piece at a time."
      return fail(failure("RATE_LIMITED", message, { retry_after: 1, offset: this.#taken }))
    }
    return this.#queue.run(() => this.#write(data, end, offset ?? this.#taken))
  }

  /** Somebody else goes on writing: resolves when nothing more is written from here. */
  async release(): Promise<void> {
    this.#isReleased = true
    await this.#queue.runAfterQueued(() => Promise.resolve())
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
      const message = `Input at ${offset} would leave a gap: ${this.#taken} bytes are taken so far.`
      return fail(failure("INVALID_PARAMS", message, { offset: this.#taken }))
    }
    const rest = data.subarray(Math.min(data.length, this.#taken - offset))
    if (rest.length > 0 && this.#isClosed) return this.#refused(0)
    if (this.#isReleased) return this.#refused(0)

    const accepted = await this.#writePieces(rest)
    if (accepted < rest.length) {
      // What was handed over took no more from here, and is as open as it was.
      if (!this.#isReleased) this.#isClosed = true
      return this.#refused(accepted)
    }
    // A repeated end is one end: on a terminal a second one would end what reads next.
    if (end && !this.#isClosed) this.close()
    return ok({ accepted, offset: this.#taken })
  }

  async #writePieces(bytes: Uint8Array): Promise<number> {
    let taken = 0
    while (taken < bytes.length) {
      const piece = bytes.subarray(taken, taken + pieceBytes)
      const count = await this.#input.write(piece)
      taken += count
      this.#taken += count
      this.#onTaken()
      if (count < piece.length) break
    }
    return taken
  }

  #refused(accepted: number): Result<never, Failure> {
    const message = "The child's standard input is closed."
    return fail(failure("WRONG_STATE", message, { accepted, offset: this.#taken }))
  }
}
