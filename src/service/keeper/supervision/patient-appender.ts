import type { StreamName } from "../../../execution/record.ts"
import type { AppendOutcome, Clock, TranscriptWriter } from "../ports.ts"
import { retriedWhileShort } from "../shortages.ts"

/** Tries again where something is short. Nobody reads meanwhile, so whoever writes waits. */
export class PatientAppender {
  readonly #transcript: Pick<TranscriptWriter, "append">
  readonly #clock: Clock
  #waiting = 0

  constructor(transcript: Pick<TranscriptWriter, "append">, clock: Clock) {
    this.#transcript = transcript
    this.#clock = clock
  }

  get isWaiting(): boolean {
    return this.#waiting > 0
  }

  append(stream: StreamName, bytes: Uint8Array): AppendOutcome | Promise<AppendOutcome> {
    const outcome = this.#transcript.append(stream, bytes, this.#clock.now())
    return outcome.kind === "short" ? this.#wait(stream, outcome.rest) : outcome
  }

  async #wait(stream: StreamName, bytes: Uint8Array): Promise<AppendOutcome> {
    let rest: Uint8Array = bytes.slice() // what it was read into may be used again
    this.#waiting += 1
    try {
      return await retriedWhileShort(this.#clock, () => {
        const outcome = this.#transcript.append(stream, rest, this.#clock.now())
        if (outcome.kind !== "short") return outcome
        rest = outcome.rest
        throw outcome.error
      })
    } finally {
      this.#waiting -= 1
    }
  }
}
