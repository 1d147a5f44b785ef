import {
  type ExecutionRecord,
  hasEnded,
  type StreamName,
} from "../../../../src/execution/record.ts"
import type { ExecutionEvent } from "../../../../src/execution/state.ts"
import type { Failure } from "../../../../src/protocol/failure.ts"
import {
  admitted,
  after,
  emptied,
  exited,
  queued,
  started,
} from "../../storage/journal/sample-executions.ts"
import { FakeFeed } from "./fake-feed.ts"

/** Something that happened to an execution: cursors are the numbers of these. */
export type Happening =
  | { kind: "output"; stream: StreamName; bytes: Uint8Array; sequence: number }
  | { kind: "state"; record: ExecutionRecord }
  | { kind: "failed"; failure: Failure }

/** An execution whose life a test writes. */
export class FakeExecution {
  record: ExecutionRecord
  readonly happenings: Happening[] = []
  readonly feeds = new Set<FakeFeed>()
  /** Happenings before this one are forgotten. */
  keptFrom = 0
  /** If set, output never ends: after what was written, this comes again and again. */
  flood: Uint8Array | null = null

  constructor(record: ExecutionRecord = running()) {
    this.record = record
  }

  write(data: string | Uint8Array, stream: StreamName = "stdout"): void {
    const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data
    const { end } = this.record.transcript
    this.happenings.push({ kind: "output", stream, bytes, sequence: end.sequence })
    const moved = { ...end, sequence: end.sequence + bytes.length }
    this.record = { ...this.record, transcript: { ...this.record.transcript, end: moved } }
    this.#advance()
  }

  happen(event: ExecutionEvent): void {
    this.record = after(this.record, event)
    if (!hasEnded(this.record)) this.happenings.push({ kind: "state", record: this.record })
    this.#advance()
  }

  end(): void {
    this.happen(exited)
    this.happen(emptied)
  }

  fail(failure: Failure): void {
    this.happenings.push({ kind: "failed", failure })
    this.#advance()
  }

  forgetBefore(happening: number): void {
    this.keptFrom = happening
  }

  open(from: string): FakeFeed | null {
    const at = from === "start" ? 0 : from === "tail" ? this.happenings.length : numberOf(from)
    if (at === null) return null
    const feed = new FakeFeed(this, at)
    this.feeds.add(feed)
    return feed
  }

  /** Output bytes before a happening. */
  sequenceAt(happening: number): number {
    const next = this.happenings.slice(happening).find(({ kind }) => kind === "output")
    return next?.kind === "output" ? next.sequence : this.record.transcript.end.sequence
  }

  #advance(): void {
    for (const feed of this.feeds) feed.advanced()
  }
}

export function running(change: Partial<ExecutionRecord> = {}): ExecutionRecord {
  const leader = { pid: 4711, startTicks: 1 }
  return after(after({ ...queued(), leader, ...change }, admitted), started)
}

function numberOf(cursor: string): number | null {
  const digits = /^c(\d+)$/.exec(cursor)?.[1]
  return digits === undefined ? null : Number(digits)
}
