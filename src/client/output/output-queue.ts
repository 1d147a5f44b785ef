import { AutoResetEvent } from "../../lib/auto-reset-event.ts"
import { type ExecutionEvent, weightOf } from "./execution-event.ts"

type Ending = { kind: "open" } | { kind: "finished" } | { kind: "failed"; error: unknown }

/** Events between the socket and the one who takes them. It holds whatever it was given. */
export class OutputQueue {
  readonly #boundBytes: number
  readonly #taken: (event: ExecutionEvent) => void
  readonly #events: ExecutionEvent[] = []
  #weight = 0
  #ending: Ending = { kind: "open" }
  readonly #arrived = new AutoResetEvent()
  #hasConsumer = false

  /** `taken` runs for every event as it is handed out. */
  constructor(boundBytes: number, taken: (event: ExecutionEvent) => void) {
    this.#boundBytes = boundBytes
    this.#taken = taken
  }

  get isFull(): boolean {
    return this.#weight >= this.#boundBytes
  }

  /** Half, so that attaching again brings more than a handful of events. */
  get hasRoom(): boolean {
    return this.#weight <= this.#boundBytes / 2
  }

  get isEmpty(): boolean {
    return this.#events.length === 0
  }

  get isOpen(): boolean {
    return this.#ending.kind === "open"
  }

  push(event: ExecutionEvent): void {
    this.#events.push(event)
    this.#weight += weightOf(event)
    this.#arrived.set()
  }

  /** Nothing more will come; what is here can still be taken. */
  finish(): void {
    this.#close({ kind: "finished" })
  }

  fail(error: unknown): void {
    this.#close({ kind: "failed", error })
  }

  /** One consumer at a time; after a `break`, the next one goes on where the last one stopped. */
  consume(): AsyncIterable<ExecutionEvent> {
    if (this.#hasConsumer) throw new Error("output() is being read already: it has one consumer.")
    this.#hasConsumer = true
    return this.#takeAll()
  }

  async *#takeAll(): AsyncGenerator<ExecutionEvent, void, void> {
    try {
      for (;;) {
        const event = this.#take()
        if (event !== undefined) yield event
        else if (this.#ending.kind === "failed") throw this.#ending.error
        else if (this.#ending.kind === "finished") return
        else await this.#arrived.wait()
      }
    } finally {
      this.#hasConsumer = false
    }
  }

  #take(): ExecutionEvent | undefined {
    const event = this.#events.shift()
    if (event === undefined) return undefined
    this.#weight -= weightOf(event)
    this.#taken(event)
    return event
  }

  #close(ending: Ending): void {
    if (!this.isOpen) return
    this.#ending = ending
    this.#arrived.set()
  }
}
