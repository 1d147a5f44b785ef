import type { ExecutionRecord } from "../../../execution/record.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import { EventLoopBudget } from "../../../lib/event-loop-budget.ts"
import type { Encoding } from "../../../protocol/execute.ts"
import { viewOf } from "../../../protocol/execution-view.ts"
import { wireError } from "../../../protocol/failure.ts"
import { notificationMessage } from "../../../protocol/json-rpc.ts"
import { completedOf, type NotificationName } from "../../../protocol/notifications.ts"
import { QueryFilter } from "../../../terminal/query-filter.ts"
import type { Driver, FeedEvent, OutputFeed } from "../../gateway/ports.ts"
import type { DeclaredSize } from "../../gateway/screen-ports.ts"
import { outputFrame } from "./output-frames.ts"

export interface SubscriberSocket {
  readonly isBlocked: boolean
  /** `besides` is what else was made for it, in bytes. */
  send(message: string | Uint8Array<ArrayBuffer>, besides?: number): void
}

export type SubscriptionOptions = {
  number: number
  encoding: Encoding
  /** What a terminal would answer: the service has done that. */
  queries: "kept" | "removed"
  driver: Driver | null
  declareSize(size: TerminalSize): DeclaredSize
  socket: SubscriberSocket
  /** Nothing will follow. */
  over: () => void
}

/** A mebibyte for all subscriptions together, then others have their turn. */
const framesPerTurn = 16
const sending = new EventLoopBudget(framesPerTurn, (run) => void setImmediate(run))

/** What stands for invalid bytes was a text, and bytes again, of two and three bytes each. */
const lossyWeight = 3

/** Carries output to a session as fast as its socket takes it: what waits, waits on disk. */
export class Subscription implements Disposable {
  readonly number: number
  readonly driver: Driver | null
  readonly #feed: OutputFeed
  readonly #options: SubscriptionOptions
  readonly #advances: Disposable
  readonly #queryFilter: QueryFilter | null
  #size: DeclaredSize | null = null
  #lastState: ExecutionRecord["state"]["kind"]
  #hasBegun = false
  #isScheduled = false
  #isDisposed = false

  constructor(feed: OutputFeed, options: SubscriptionOptions) {
    this.#feed = feed
    this.number = options.number
    this.driver = options.driver
    this.#options = options
    this.#lastState = feed.record().state.kind
    this.#queryFilter = options.queries === "removed" ? new QueryFilter() : null
    this.#advances = feed.onAdvance(() => this.pump())
  }

  get executionId(): string {
    return this.#feed.executionId
  }

  /** From here on it may send: the answer that announces it has been sent. */
  begin(announce: "started" | null): void {
    this.#hasBegun = true
    const record = this.#feed.record()
    if (announce !== null && record.leader !== null) {
      // It may be over by now: whoever started it is told of its life all the same.
      if (this.#lastState === "ended") this.#lastState = "running"
      this.#tellLife("process.started", "started", record)
    }
    this.pump()
  }

  pump(): void {
    if (!this.#hasBegun || this.#isScheduled) return
    this.#isScheduled = true
    sending.run(() => {
      this.#isScheduled = false
      return this.#send()
    })
  }

  /** Sends what is there; answers how many frames that were. */
  #send(): number {
    for (let frames = 0; frames < framesPerTurn; frames++) {
      if (this.#isDisposed || this.#options.socket.isBlocked) return frames
      const event = this.#feed.next(this.#options.encoding === "utf8" ? "text" : "bytes")
      if (event === null) return frames
      this.#deliver(event)
    }
    this.pump()
    return framesPerTurn
  }

  /** The size of its own terminal; null from one who only watches, and from one who is gone. */
  declareSize(size: TerminalSize): ReturnType<DeclaredSize["change"]> | null {
    if (this.driver === null || this.#isDisposed) return null
    this.#size ??= this.#options.declareSize(size)
    return this.#size.change(size)
  }

  /** Stops reading; the driver, if it was one, stands by and is answered. */
  detach(): Driver | null {
    if (this.#isDisposed) return null
    this.#isDisposed = true
    this.#advances[Symbol.dispose]()
    this.#feed[Symbol.dispose]()
    this.#size?.[Symbol.dispose]()
    this.driver?.standBy()
    return this.driver
  }

  [Symbol.dispose](): void {
    this.detach()?.[Symbol.dispose]()
  }

  #deliver(event: FeedEvent): void {
    const execution_id = this.executionId
    switch (event.kind) {
      case "output":
        this.#sendOutput(event)
        this.driver?.sent()
        return
      case "gap": {
        const { kind: _, ...gap } = event
        this.#tell("process.gap", { execution_id, ...gap })
        return
      }
      case "resized": {
        const { size, next } = event
        this.#tell("process.resized", { execution_id, ...size, next })
        return
      }
      case "state":
        this.#tellState(event.record)
        this.driver?.sent() // nothing new, but the child may have begun to wait
        return
      case "ended":
        this.#tellEnd(event.record)
        this.#finish()
        return
      case "failed":
        this.#tell("process.error", { execution_id, error: wireError(event.failure) })
        this.#finish()
        return
    }
  }

  #sendOutput(output: Extract<FeedEvent, { kind: "output" }>): void {
    const bytes = this.#queryFilter?.filter(output.bytes) ?? output.bytes
    if (bytes.length === 0) return
    const { encoding, socket } = this.#options
    const frame = outputFrame({ ...output, bytes }, this.executionId, this.number, encoding)
    socket.send(frame, output.lossy === 0 ? 0 : bytes.length * lossyWeight)
  }

  #tellState(record: ExecutionRecord): void {
    const { kind } = record.state
    const before = this.#lastState
    this.#lastState = kind
    if (kind === before) return
    if (kind === "paused") this.#tellLife("process.paused", "paused", record)
    if (kind !== "running") return
    if (before === "paused") this.#tellLife("process.resumed", "resumed", record)
    else this.#tellLife("process.started", "started", record)
  }

  #tellEnd(record: ExecutionRecord): void {
    const { state } = record
    const outcome = state.kind === "ended" ? state.outcome : null
    const wasCanceled = outcome?.kind === "stopped" && outcome.cause === "client"
    // Who attaches to an old one wants its output, not its life told again.
    if (wasCanceled && this.#lastState !== "ended") {
      this.#tellLife("process.canceled", "canceled", record)
    }
    const completed = completedOf(viewOf(record))
    if (completed !== null) this.#tell("process.completed", completed)
  }

  #tellLife(name: NotificationName, status: string, record: ExecutionRecord): void {
    const pid = record.leader?.pid ?? null
    this.#tell(name, { execution_id: record.id, status, pid, pgid: pid })
  }

  #tell(name: NotificationName, params: unknown): void {
    this.#options.socket.send(notificationMessage(name, params))
  }

  #finish(): void {
    this[Symbol.dispose]()
    this.#options.over()
  }
}
