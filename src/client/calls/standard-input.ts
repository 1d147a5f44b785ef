import { SerialQueue } from "../../lib/serial-queue.ts"
import { maxInputBytes } from "../../protocol/methods.ts"
import { CallError, InputError } from "../client-error.ts"
import type { Calls } from "./calls.ts"

const encoder = new TextEncoder()

/** Writes with offsets, by which the server recognizes what is sent again after a cut. */
export class StandardInput {
  readonly #executionId: string
  readonly #calls: Calls
  #offset: number | null
  /** One piece is outstanding at a time: the server allows no more, and the order is the data. */
  readonly #writes = new SerialQueue()

  /** `offset` is null when others may have written before: then the server is asked. */
  constructor(executionId: string, calls: Calls, offset: number | null) {
    this.#executionId = executionId
    this.#calls = calls
    this.#offset = offset
  }

  write(data: string | Uint8Array): Promise<void> {
    const bytes = typeof data === "string" ? encoder.encode(data) : data
    return this.#writes.run(() => this.#send(bytes))
  }

  end(): Promise<void> {
    return this.#writes.run(() => this.#end())
  }

  async #send(bytes: Uint8Array): Promise<void> {
    for (let sent = 0; sent < bytes.length; sent += maxInputBytes) {
      await this.#sendPiece(bytes.subarray(sent, sent + maxInputBytes))
    }
  }

  async #sendPiece(piece: Uint8Array): Promise<void> {
    const offset = await this.#knownOffset()
    const execution_id = this.#executionId
    const params = { execution_id, data: piece.toBase64(), encoding: "base64", offset } as const
    const { result, repeated } = await this.#calls.outcome("input", params)
    if (!result.ok) throw new CallError(result.failure)
    const { accepted, offset: taken } = result.value
    const end = offset + piece.length
    this.#offset = taken
    if (taken < end) {
      throw new InputError(`The child closed its standard input after ${taken} bytes.`, taken)
    }
    // An offset that is no longer the end reads as a repetition: part of the piece was left out.
    if (!repeated && (accepted < piece.length || taken > end)) {
      throw new InputError(
        `Somebody else writes to execution ${execution_id}, so not all of ${piece.length} bytes ` +
          `were taken at ${offset}. Let one writer write at a time.`,
        taken,
      )
    }
  }

  async #end(): Promise<void> {
    const offset = await this.#knownOffset()
    const params = { execution_id: this.#executionId, data: "", end: true, offset }
    await this.#calls.result("input", params)
  }

  async #knownOffset(): Promise<number> {
    if (this.#offset === null) {
      const view = await this.#calls.result("status", { execution_id: this.#executionId })
      this.#offset = view.stdin_bytes
    }
    return this.#offset
  }
}
