import type { ExecutionId } from "../../execution/id.ts"
import { type ExecutionRecord, hasEnded, type Position } from "../../execution/record.ts"
import type { TerminalSize } from "../../execution/spec.ts"
import { LinkedQueue } from "../../lib/linked-queue.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { Output } from "../../protocol/output-chunk.ts"
import type { Caller } from "../../service/access/caller.ts"
import { noLongerGood } from "../../service/access/permission.ts"
import { decodeCursor } from "../../service/gateway/operations/cursor.ts"
import { ackAfterBytes } from "../../service/gateway/operations/drivers.ts"
import type { Driver, FeedEvent, OutputFeed, OutputForm } from "../../service/gateway/ports.ts"
import type { DeclaredSize } from "../../service/gateway/screen-ports.ts"
import type { FeedConnection, FeedReader } from "./feed-connection.ts"
import { FeedWindow } from "./feed-window.ts"
import { unreachable } from "./node-connection.ts"
import { type Attached, type NodeNotice, noticeWeight } from "./wire.ts"

const mostStates = 100

export type RemoteFeedOptions = {
  connection: FeedConnection
  attached: Attached
  caller: Caller
  /** So many bytes have come, and will be thrown away. */
  reportBuffers: (bytes: number) => void
  /** Nothing of it is left. */
  over: () => void
}

type Driving = { acknowledges: boolean; standsBy: boolean; acknowledged: string | null }

/**
 * One reader's way through the output of an execution of another node. What has come and was not
 * taken yet waits here, up to a bound that the other node keeps to; whatever becomes of the
 * connection, it goes on behind the last that came.
 */
export class RemoteFeed implements OutputFeed, FeedReader {
  readonly from: string
  readonly availableFrom: string
  readonly #connection: FeedConnection
  readonly #caller: Caller
  readonly #reportBuffers: (bytes: number) => void
  readonly #over: () => void
  readonly #listeners = new Set<() => void>()
  readonly #waiting = new LinkedQueue<FeedEvent>()
  readonly #window = new FeedWindow()
  #waitingBytes = 0
  #waitingStates = 0
  #record: ExecutionRecord
  #form: OutputForm | null = null
  /** Behind the last that came, and behind the last that was taken. */
  #received: string
  #cursor: string
  #passedBytes: number | null
  #driving: Driving | null = null
  #size: TerminalSize | null = null
  /** Its last event is here, or nobody wants it any more. */
  #isComplete = false
  #isOver = false
  #isDisposed = false

  constructor({ connection, attached, caller, reportBuffers, over }: RemoteFeedOptions) {
    this.#connection = connection
    this.#over = over
    this.#caller = caller
    this.#reportBuffers = reportBuffers
    this.#record = attached.record
    this.from = attached.from
    this.availableFrom = attached.available_from
    this.#received = attached.from
    this.#cursor = attached.from
    this.#passedBytes = attached.passed_bytes
    connection.readBy(this)
  }

  get executionId(): ExecutionId {
    return this.#record.id
  }

  record(): ExecutionRecord {
    return this.#record
  }

  cursor(): string {
    return this.#cursor
  }

  position(): Position {
    return placeOf(this.#cursor).position
  }

  passedBytes(): number {
    return this.#passedBytes ?? placeOf(this.#cursor).passedBytes
  }

  onAdvance(advanced: () => void): Disposable {
    this.#listeners.add(advanced)
    return { [Symbol.dispose]: () => void this.#listeners.delete(advanced) }
  }

  /** The other node reads in pieces of its own: they are no larger than any reader's. */
  next(form: OutputForm): FeedEvent | null {
    if (this.#isOver || this.#isDisposed) return null
    if (!this.#caller.isStillGood()) {
      this.#isOver = true
      this.#connection[Symbol.dispose]()
      return { kind: "failed", failure: noLongerGood }
    }
    if (this.#form === null) this.#begin(form)
    const event = this.#waiting.shift()
    if (event !== null) this.#taken(event)
    return event
  }

  drive(acknowledges: boolean): Driver {
    const driving: Driving = { acknowledges, standsBy: false, acknowledged: null }
    this.#driving = driving
    this.#connection.order({ order: "drive", acknowledges, from: this.#cursor })
    return {
      ackAfterBytes: acknowledges ? ackAfterBytes(this.#record.spec) : null,
      sent: () => undefined, // the other node counts by what was taken here
      acknowledge: (next) => {
        if (decodeCursor(next) === null) return false
        driving.acknowledged = next
        this.#connection.order({ order: "ack", next })
        return true
      },
      standBy: () => this.#standBy(driving),
      [Symbol.dispose]: () => {
        if (this.#driving !== driving) return
        this.#driving = null
        if (this.#isDisposed) this.#connection[Symbol.dispose]()
      },
    }
  }

  declareSize(size: TerminalSize): DeclaredSize {
    this.#size = size
    return {
      change: (changed) => this.#changeSize(changed),
      [Symbol.dispose]: () => {
        this.#size = null
        this.#connection.order({ order: "no-size" })
      },
    }
  }

  /** The fleet has given it up: this is all that its reader will ever be told. */
  lost(record: ExecutionRecord): void {
    if (this.#isComplete) return
    this.#record = record
    this.#complete({ kind: "ended", record })
  }

  [Symbol.dispose](): void {
    if (this.#isDisposed) return
    this.#isDisposed = true
    this.#over()
    this.#listeners.clear()
    this.#window[Symbol.dispose]()
    while (this.#waiting.shift() !== null);
    // Whoever drives it is still there, and an execution may count on that.
    if (this.#driving === null) this.#connection[Symbol.dispose]()
    else this.#standBy(this.#driving)
  }

  // --- what the connection brings ---------------------------------------------------------------

  output(output: Output): void {
    if (this.#isComplete || this.#isDisposed) return
    this.#received = output.next
    this.#reportBuffers(output.bytes.length)
    this.#push({ kind: "output", ...output })
  }

  noticed(notice: NodeNotice): void {
    if (this.#isComplete || this.#isDisposed) return
    switch (notice.notice) {
      case "greeting":
        return
      case "record":
        return this.#recordTold(notice.record, notice.changed)
      case "gap": {
        const { notice: kind, ...gap } = notice
        this.#received = gap.next
        return this.#push({ kind, ...gap })
      }
      case "resized":
        this.#received = notice.next
        return this.#push({ kind: "resized", size: notice.size, next: notice.next })
      case "ended":
        this.#record = notice.record
        return this.#complete({ kind: "ended", record: notice.record })
      case "failed":
        return this.#complete({ kind: "failed", failure: notice.failure })
    }
  }

  resumeFrom(): string {
    return this.#received
  }

  attachedAgain({ record }: Attached): void {
    const hasChanged = record.state.kind !== this.#record.state.kind
    if (!this.#isDisposed) {
      this.#recordTold(record, hasChanged)
      if (this.#form !== null) this.#begin(this.#form)
    }
    const driving = this.#driving
    if (driving === null) return
    const { acknowledges, acknowledged, standsBy } = driving
    const from = acknowledged ?? this.#cursor
    this.#connection.order({ order: "drive", acknowledges, from })
    if (standsBy) this.#connection.order({ order: "stand-by" })
    else if (this.#size !== null) void this.#changeSize(this.#size)
  }

  refused(failure: Failure): void {
    if (!this.#isComplete && !this.#isDisposed) this.#complete({ kind: "failed", failure })
  }

  #begin(form: OutputForm): void {
    this.#form = form
    const bytes = this.#window.startOver(this.#waitingBytes)
    this.#connection.order({ order: "begin", form, bytes })
  }

  #standBy(driving: Driving): void {
    if (driving.standsBy) return
    driving.standsBy = true
    this.#connection.order({ order: "stand-by" })
  }

  #recordTold(record: ExecutionRecord, hasChanged: boolean): void {
    this.#record = record
    if (hasChanged && !hasEnded(record) && this.#waitingStates < mostStates) {
      this.#push({ kind: "state", record })
    } else this.#tellListeners()
  }

  #complete(last: FeedEvent): void {
    this.#isComplete = true
    this.#connection[Symbol.dispose]()
    this.#push(last)
  }

  #push(event: FeedEvent): void {
    this.#waiting.push(event)
    this.#waitingBytes += weightOf(event)
    if (event.kind === "state") this.#waitingStates += 1
    this.#tellListeners()
  }

  #tellListeners(): void {
    for (const listener of this.#listeners) listener()
  }

  #taken(event: FeedEvent): void {
    const bytes = weightOf(event)
    this.#waitingBytes -= bytes
    if (event.kind === "state") this.#waitingStates -= 1
    if (event.kind === "ended" || event.kind === "failed") {
      this.#isOver = true
      return
    }
    if ("next" in event) {
      this.#cursor = event.next
      this.#passedBytes = null
    }
    const isEmpty = this.#waiting.size === 0
    const allowed = this.#window.taken(bytes, isEmpty, this.#driving !== null)
    if (allowed === null || this.#isComplete) return
    this.#connection.order({ order: "take", bytes: allowed, next: this.#cursor })
  }

  async #changeSize(size: TerminalSize): Promise<Result<Record<string, never>, Failure>> {
    this.#size = size
    const asked = { execution_id: this.executionId, ...size }
    const answer = await this.#connection.ask("resize", asked)
    if (answer.ok) return ok({})
    const { failure } = answer
    if (failure.kind === "refused") return fail(failure.failure)
    return fail(unreachable(this.#connection.node, failure.why))
  }
}

function weightOf(event: FeedEvent): number {
  if (event.kind === "output") return event.bytes.length
  return event.kind === "state" ? 0 : noticeWeight
}

/** A node that gives out a cursor which is none is of another version. */
function placeOf(cursor: string): { position: Position; passedBytes: number } {
  const decoded = decodeCursor(cursor)
  if (decoded === null) throw new Error(`another node gave ${cursor} for a cursor`)
  const { position, held } = decoded
  return { position, passedBytes: position.sequence - held.stdout.length - held.stderr.length }
}
