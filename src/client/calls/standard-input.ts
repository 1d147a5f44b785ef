import { z } from "zod"
import { delay } from "../../lib/delay.ts"
import { SerialQueue } from "../../lib/serial-queue.ts"
import type { Failure } from "../../protocol/failure.ts"
import { maxInputBytes, type ParamsOf } from "../../protocol/methods.ts"
import { CallError, ConnectionLostError } from "../client-error.ts"
import { randomName } from "../random-name.ts"
import type { Calls } from "./calls.ts"
import { retryDelayMs } from "./repeat.ts"

const encoder = new TextEncoder()

/**
 * Writes under a name of its own and with offsets, by which the server recognizes what is sent
 * again after a cut, whoever else writes.
 */
export class StandardInput {
  readonly #executionId: string
  readonly #calls: Calls
  #writer = randomName()
  #offset = 0
  /** One piece is outstanding at a time: the order is the data. */
  readonly #writes = new SerialQueue()

  constructor(executionId: string, calls: Calls) {
    this.#executionId = executionId
    this.#calls = calls
  }

  write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? encoder.encode(data) : data
    return this.#writes.run(() => this.#send(bytes))
  }

  end(): Promise<void> {
    return this.#writes.run(async () => {
      await this.#ask({ end: true })
    })
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length; sent += maxInputBytes) {
      const piece = bytes.subarray(sent, sent + maxInputBytes)
      this.#offset = await this.#ask({ data: piece.toBase64(), encoding: "base64" })
    }
  }

  /** Answers how many bytes were taken of this writer. */
  async #ask(input: Pick<ParamsOf<"input">, "data" | "encoding" | "end">): Promise<number> {
    const execution_id = this.#executionId
    let wasRepeated = false
    for (;;) {
      const params = { execution_id, writer: this.#writer, offset: this.#offset, ...input }
      const { result, repeated } = await this.#calls.outcome("input", params)
      if (result.ok) return result.value.offset
      wasRepeated ||= repeated
      const refused = result.failure
      if (isForgotten(refused, this.#offset)) {
        this.#becomeAnother()
        if (wasRepeated) throw new ConnectionLostError(doubtful)
      } else if (mayBeTakenLater(refused)) {
        await delay(retryDelayMs(refused), this.#calls.closing)
      } else throw new CallError(refused)
    }
  }

  /** Everything before was answered for, so that nothing of it is ever sent again. */
  #becomeAnother(): void {
    this.#writer = randomName()
    this.#offset = 0
  }
}

const doubtful =
  "The connection broke while input was sent, and the service no longer remembers this writer: " +
  "the last input may have been written or not. Look at the output before sending it again."

const TakenSoFar = z.object({ offset: z.int() })

/** The server remembers so many writers; one that was silent for long may be gone. */
function isForgotten({ reason, details }: Failure, offset: number): boolean {
  if (reason !== "INVALID_PARAMS") return false
  const taken = TakenSoFar.safeParse(details)
  return taken.success && taken.data.offset < offset
}

const NotStarted = z.object({ state: z.enum(["queued", "starting"]) })

/** Others may have filled the queue, or it has not started: what is sent again is written once. */
function mayBeTakenLater({ reason, details }: Failure): boolean {
  if (reason === "WRONG_STATE") return NotStarted.safeParse(details).success
  return reason === "RATE_LIMITED"
}
