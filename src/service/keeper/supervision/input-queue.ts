import { countText } from "../../../lib/count-text.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { InputResult } from "../../../protocol/methods.ts"
import type { ChildInput } from "../ports.ts"
import { WaitingRequests } from "./waiting-requests.ts"
import { type Writer, type WriterOffset, WriterOffsets } from "./writer-offsets.ts"

/** About what a pipe holds: a slow reader is seen to take input piece by piece. */
const pieceBytes = 65_536

export type InputRequest = {
  data: Uint8Array
  end: boolean
  principal: string
  /** Who counts for itself; null for those who count the bytes of everybody. */
  writer: string | null
  /** Bytes sent before; null to write whatever was written before. */
  offset: number | null
}

/** What a terminal says because of a query that ends there, in bytes of output. */
export type TerminalAnswer = { at: number; data: Uint8Array }

/** What was taken before a handover. */
export type InputBefore = {
  taken: number
  isClosed: boolean
  writers: WriterOffset[]
  /** Output bytes up to the last query of the terminal that was answered. */
  answeredTo: number
}

const nothingBefore: InputBefore = { taken: 0, isClosed: false, writers: [], answeredTo: 0 }

/** A program that asks its terminal and never reads what it is answered has had enough. */
const mostWaitingAnswerBytes = 64 * 1024

/**
 * Input in the order it was asked, each answered when the child's pipe took it: the bytes of one
 * request are never mixed with those of another. An offset makes a request safe to repeat: what was
 * taken before is not written again.
 */
export class InputQueue {
  readonly #input: ChildInput
  readonly #onTaken: () => void
  readonly #queue = new SerialQueue()
  readonly #waiting = new WaitingRequests()
  readonly #offsets: WriterOffsets
  #taken: number
  #isClosed: boolean
  #isReleased = false
  /** Output before the last query that was answered; what comes again was asked before. */
  #answeredTo: number
  #waitingAnswerBytes = 0

  constructor(input: ChildInput, onTaken: () => void, before = nothingBefore) {
    this.#input = input
    this.#onTaken = onTaken
    this.#taken = before.taken
    this.#isClosed = before.isClosed
    this.#offsets = new WriterOffsets(before.writers)
    this.#answeredTo = before.answeredTo
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  get taken(): number {
    return this.#taken
  }

  get writers(): WriterOffset[] {
    return this.#offsets.entries
  }

  get answeredTo(): number {
    return this.#answeredTo
  }

  /**
   * What the terminal answers a query, once: the same query may come again, from a gateway that
   * does not know whether the one before it has sent the answer. It counts as nobody's input.
   */
  async answer({ at, data }: TerminalAnswer): Promise<void> {
    if (this.#waitingAnswerBytes + data.length > mostWaitingAnswerBytes) return
    this.#waitingAnswerBytes += data.length
    await this.#queue.run(async () => {
      const isDue = at > this.#answeredTo && !this.#isClosed && !this.#isReleased
      if (isDue) await this.#input.write(data)
      if (isDue && !this.#isReleased) this.#answeredTo = at
    })
    this.#waitingAnswerBytes -= data.length
  }

  async write(request: InputRequest): Promise<Result<InputResult, Failure>> {
    using waits = this.#waiting.enter(request.principal, request.writer)
    if (waits === null) {
      const message =
        "Earlier input is still waiting for the child to read: send one piece at a time."
      const offset = this.#takenFrom(writerOf(request))
      return fail(failure("RATE_LIMITED", message, { retry_after: 1, offset }))
    }
    return await this.#queue.run(() => this.#write(request))
  }

  /** The answer to what was taken whole before; null for everything else. */
  repeated(request: InputRequest): Result<InputResult, Failure> | null {
    return repeatedInput(request, this.#takenFrom(writerOf(request)))
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

  async #write(request: InputRequest): Promise<Result<InputResult, Failure>> {
    const { data, end, offset } = request
    const writer = writerOf(request)
    const before = this.#takenFrom(writer)
    const from = offset ?? before
    if (from > before) {
      const taken = `${countText(before, "byte")} taken so far`
      const message = `Input at ${from} would leave a gap: ${taken}.`
      return fail(failure("INVALID_PARAMS", message, { offset: before }))
    }
    const rest = data.subarray(Math.min(data.length, before - from))
    if (rest.length > 0 && this.#isClosed) return this.#refused(0, writer)
    if (this.#isReleased) return this.#refused(0, writer)

    const accepted = await this.#writePieces(rest, writer)
    if (accepted < rest.length) {
      // What was handed over took no more from here, and is as open as it was.
      if (!this.#isReleased) this.#isClosed = true
      return this.#refused(accepted, writer)
    }
    // A repeated end is one end: on a terminal a second one would end what reads next.
    if (end && !this.#isClosed) this.close()
    return ok({ accepted, offset: this.#takenFrom(writer) })
  }

  async #writePieces(bytes: Uint8Array, writer: Writer | null): Promise<number> {
    let taken = 0
    while (taken < bytes.length) {
      const piece = bytes.subarray(taken, taken + pieceBytes)
      const count = await this.#input.write(piece)
      taken += count
      this.#taken += count
      if (writer !== null) this.#offsets.add(writer, count, this.#isUnderWay)
      this.#onTaken()
      if (count < piece.length) break
    }
    return taken
  }

  readonly #isUnderWay = ({ principal, name }: Writer) => this.#waiting.has(principal, name)

  #takenFrom(writer: Writer | null): number {
    return writer === null ? this.#taken : this.#offsets.of(writer)
  }

  #refused(accepted: number, writer: Writer | null): Result<never, Failure> {
    const message = "The child's standard input is closed."
    const offset = this.#takenFrom(writer)
    return fail(failure("WRONG_STATE", message, { accepted, offset }))
  }
}

/** Null for who writes under no name, and counts the bytes of everybody. */
export function writerOf({ principal, writer }: InputRequest): Writer | null {
  return writer === null ? null : { principal, name: writer }
}

/** The answer to a request whose bytes were all taken before; null where they were not. */
export function repeatedInput(
  { data, offset }: InputRequest,
  taken: number,
): Result<InputResult, Failure> | null {
  if (offset === null || offset + data.length > taken) return null
  return ok({ accepted: 0, offset: taken })
}
