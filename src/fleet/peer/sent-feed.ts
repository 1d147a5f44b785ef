import type { ExecutionRecord, Position } from "../../execution/record.ts"
import type { TerminalSize } from "../../execution/spec.ts"
import { EventLoopBudget } from "../../lib/event-loop-budget.ts"
import { fail, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { Caller } from "../../service/access/caller.ts"
import { decodeCursor } from "../../service/gateway/operations/cursor.ts"
import type {
  Driver,
  FeedEvent,
  Operations,
  OutputFeed,
  OutputForm,
} from "../../service/gateway/ports.ts"
import type { DeclaredSize } from "../../service/gateway/screen-ports.ts"
import type { SubscriberSocket } from "../../service/transports/socket/subscription.ts"
import { nodeFrame } from "./node-frame.ts"
import { type FeedOrder, type NodeNotice, noticeWeight } from "./wire.ts"

/** A mebibyte for all feeds together, then others have their turn. */
const framesPerTurn = 16
const sending = new EventLoopBudget(framesPerTurn, (run) => void setImmediate(run))

/** While nothing is read, how much there is to read is told this often. */
const tellGrowthEveryMs = 250

/** A feed that is read for another node: it sends as much as that has room for. */
export class SentFeed implements Disposable {
  readonly #feed: OutputFeed
  readonly #operations: Operations
  readonly #caller: Caller
  readonly #socket: SubscriberSocket
  readonly #advances: Disposable
  #reading: { form: OutputForm; creditBytes: number } | null = null
  /** Up to where the reader has taken what was sent. */
  #taken: Position
  #driver: Driver | null = null
  #size: DeclaredSize | null = null
  #toldState: ExecutionRecord["state"]
  #growthTimer: ReturnType<typeof setTimeout> | null = null
  #isScheduled = false
  #isReadable = true

  constructor(feed: OutputFeed, operations: Operations, caller: Caller, socket: SubscriberSocket) {
    this.#feed = feed
    this.#operations = operations
    this.#caller = caller
    this.#socket = socket
    this.#taken = feed.position()
    this.#toldState = feed.record().state
    this.#advances = feed.onAdvance(() => this.pump())
  }

  /** Nobody waits for its end. */
  get isTold(): boolean {
    return this.#reading === null || !this.#isReadable
  }

  order(order: FeedOrder): void {
    switch (order.order) {
      case "begin":
        this.#reading = { form: order.form, creditBytes: order.bytes }
        return this.pump()
      case "take":
        return this.#take(order.bytes, order.next)
      case "drive":
        return this.#drive(order.acknowledges, order.from)
      case "ack":
        this.#driver?.acknowledge(order.next)
        return
      case "stand-by":
        this.#stopReading()
        this.#driver?.standBy()
        return
      case "no-size":
        this.#size?.[Symbol.dispose]()
        this.#size = null
        return
    }
  }

  /** The size of the reader's own terminal: one of those that decide, as long as it drives. */
  declareSize(size: TerminalSize): Promise<Result<Record<string, never>, Failure>> {
    if (this.#driver === null || !this.#isReadable) return Promise.resolve(fail(drivesNothing))
    this.#size ??= this.#operations.declareSize(this.#feed, size)
    return this.#size.change(size)
  }

  pump(): void {
    if (!this.#isReadable) return
    this.#tellRecord()
    if (this.#reading === null || this.#isScheduled) return
    this.#isScheduled = true
    sending.run(() => {
      this.#isScheduled = false
      return this.#send()
    })
  }

  [Symbol.dispose](): void {
    this.#stopReading()
    this.#size?.[Symbol.dispose]()
    this.#driver?.[Symbol.dispose]()
    this.#driver = null
  }

  #stopReading(): void {
    if (!this.#isReadable) return
    this.#isReadable = false
    if (this.#growthTimer !== null) clearTimeout(this.#growthTimer)
    this.#advances[Symbol.dispose]()
    this.#feed[Symbol.dispose]()
  }

  #take(bytes: number, next: string): void {
    const position = decodeCursor(next)?.position
    if (this.#reading === null || position === undefined) return
    this.#reading.creditBytes += bytes
    this.#taken = position
    this.#driver?.sent()
    this.pump()
  }

  /** What counts is what the reader has taken: what is on its way to it may come again. */
  #drive(acknowledges: boolean, from: string): void {
    if (!this.#isReadable) return
    this.#taken = decodeCursor(from)?.position ?? this.#taken
    using _earlier = this.#driver
    const driven = {
      executionId: this.#feed.executionId,
      record: () => this.#feed.record(),
      position: () => this.#taken,
    }
    this.#driver = this.#operations.drive(this.#caller, driven, acknowledges)
  }

  /** Sends what is there; answers how many frames that were. */
  #send(): number {
    for (let frames = 0; frames < framesPerTurn; frames++) {
      const reading = this.#reading
      const mayNot = !this.#isReadable || this.#socket.isBlocked
      if (mayNot || reading === null || reading.creditBytes <= 0) return frames
      const event = this.#feed.next(reading.form)
      if (event === null) return frames
      reading.creditBytes -= this.#deliver(event)
    }
    this.pump()
    return framesPerTurn
  }

  /** Answers what it weighs. */
  #deliver(event: FeedEvent): number {
    switch (event.kind) {
      case "output":
        this.#socket.send(nodeFrame(event))
        return event.bytes.length
      case "gap": {
        const { kind: notice, ...gap } = event
        return this.#tell({ notice, ...gap })
      }
      case "resized":
        return this.#tell({ notice: "resized", size: event.size, next: event.next })
      case "state":
        this.#driver?.sent() // nothing new, but the child may have begun to wait
        return 0 // told as it came
      case "ended":
        this.#stopReading()
        return this.#tell({ notice: "ended", record: event.record })
      case "failed":
        this.#stopReading()
        return this.#tell({ notice: "failed", failure: event.failure })
    }
  }

  /** Also to one who reads nothing yet; while nothing is taken, the newest is enough. */
  #tellRecord(): void {
    if (this.#socket.isBlocked) return
    const record = this.#feed.record()
    if (record.state !== this.#toldState) this.#tellNow(record, true)
    else if (this.#reading === null) {
      this.#growthTimer ??= setTimeout(() => {
        this.#growthTimer = null
        if (!this.#socket.isBlocked) this.#tellNow(this.#feed.record(), false)
      }, tellGrowthEveryMs)
    }
  }

  #tellNow(record: ExecutionRecord, changed: boolean): void {
    this.#toldState = record.state
    this.#tell({ notice: "record", record, changed })
  }

  #tell(notice: NodeNotice): number {
    this.#socket.send(JSON.stringify(notice))
    return noticeWeight
  }
}

const drivesNothing = failure("WRONG_STATE", "Only a driver has a size that counts.")
