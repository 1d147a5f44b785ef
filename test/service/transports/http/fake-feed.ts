import {
  type ExecutionRecord,
  hasEnded,
  startOfTranscript,
} from "../../../../src/execution/record.ts"
import type { FeedEvent, OutputFeed, OutputForm } from "../../../../src/service/gateway/ports.ts"
import { sampleTime } from "../../storage/journal/sample-executions.ts"
import type { FakeExecution } from "./fake-execution.ts"

// One for all feeds, as in the gateway: whoever does not copy finds another's bytes.
const scratch = new Uint8Array(65_536)

export class FakeFeed implements OutputFeed {
  readonly #execution: FakeExecution
  readonly #listeners = new Set<() => void>()
  readonly from: string
  readonly availableFrom: string
  taken = 0
  #at: number
  #isOver = false

  constructor(execution: FakeExecution, at: number) {
    this.#execution = execution
    this.#at = at
    this.from = this.cursor()
    this.availableFrom = `c${execution.keptFrom}`
  }

  get executionId(): string {
    return this.#execution.record.id
  }

  get isWaitedFor(): boolean {
    return this.#listeners.size > 0
  }

  record(): ExecutionRecord {
    return this.#execution.record
  }

  cursor(): string {
    return `c${this.#at}`
  }

  position() {
    return { ...startOfTranscript, sequence: this.#execution.sequenceAt(this.#at) }
  }

  passedBytes(): number {
    return this.position().sequence
  }

  next(form: OutputForm): FeedEvent | null {
    if (this.#isOver) return null
    const { happenings, keptFrom, flood, record } = this.#execution
    if (this.#at < keptFrom) return this.#gap(keptFrom)
    const happening = happenings[this.#at]
    if (happening === undefined) {
      if (flood !== null) return this.#output("stdout", flood, record.transcript.end.sequence, form)
      if (!hasEnded(record)) return null
      this.#isOver = true
      return { kind: "ended", record }
    }
    this.#at += 1
    switch (happening.kind) {
      case "output":
        return this.#output(happening.stream, happening.bytes, happening.sequence, form)
      case "state":
        return happening
      case "failed":
        this.#isOver = true
        return happening
    }
  }

  onAdvance(advanced: () => void): Disposable {
    this.#listeners.add(advanced)
    return { [Symbol.dispose]: () => void this.#listeners.delete(advanced) }
  }

  advanced(): void {
    for (const listener of this.#listeners) listener()
  }

  [Symbol.dispose](): void {
    this.#execution.feeds.delete(this)
  }

  #gap(next: number): FeedEvent {
    const bytes = this.#execution.sequenceAt(next) - this.#execution.sequenceAt(this.#at)
    const from = this.cursor()
    this.#at = next
    return { kind: "gap", from, next: this.cursor(), bytes, lines: 1, reason: "budget" }
  }

  #output(stream: "stdout" | "stderr", all: Uint8Array, sequence: number, form: OutputForm) {
    this.taken += all.length
    scratch.fill(0)
    scratch.set(all)
    const bytes = scratch.subarray(0, all.length)
    const text = form === "text" ? new TextDecoder().decode(bytes) : null
    return {
      kind: "output" as const,
      stream,
      bytes: text === null ? bytes : Buffer.from(text),
      sequence,
      line: 0,
      timeMs: sampleTime.getTime(),
      next: this.cursor(),
      endsInsideLine: bytes.at(-1) !== 10,
      lossy: (text ?? "").split("\u{fffd}").length - 1,
    }
  }
}
