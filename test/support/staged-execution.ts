import { type ExecutionRecord, type StreamName } from "../../src/execution/record.ts"
import type { Budget, TerminalSize } from "../../src/execution/spec.ts"
import { fail } from "../../src/lib/result.ts"
import { failure } from "../../src/protocol/failure.ts"
import { LiveExecutions } from "../../src/service/gateway/operations/live-executions.ts"
import { createOperations } from "../../src/service/gateway/operations/operations.ts"
import type { FeedEvent, Operations, OutputFeed } from "../../src/service/gateway/ports.ts"
import { OutputMetrics } from "../../src/service/gateway/reports/gateway-metrics.ts"
import type { TranscriptWriter } from "../../src/service/keeper/ports.ts"
import {
  type TemporaryTranscripts,
  temporaryTranscripts,
} from "../service/storage/transcript/temporary-transcripts.ts"
import { localUser } from "./callers.ts"
import { RecordBook } from "./record-book.ts"
import { sampleId, sampleRecord, sampleSpec } from "./sample-record.ts"
import { ScriptedLink } from "./scripted-link.ts"

export const caller = localUser
const noUpdates = { kind: "updates", resync: false } as const
const noon = new Date("2026-11-16T12:00:00.000Z")

/** An execution with a real transcript and the gateway's operations: only the keeper is ours. */
export class StagedExecution implements Disposable {
  readonly id = sampleId(7)
  readonly journal = new RecordBook()
  readonly link: ScriptedLink
  readonly live: LiveExecutions
  readonly operations: Operations
  readonly transcripts: TemporaryTranscripts = temporaryTranscripts()
  readonly #writer: TranscriptWriter
  #record: ExecutionRecord

  readonly output = new OutputMetrics()

  constructor(budget: Partial<Budget> = {}) {
    const spec = { ...sampleSpec, budget: { ...sampleSpec.budget, ...budget } }
    this.#record = sampleRecord({ id: this.id, spec })
    this.#writer = this.transcripts.store.create(this.id, spec.budget, () => undefined)
    this.link = new ScriptedLink({
      follow: () => ({ record: this.#isEnded ? null : this.record }),
      find: () => ({ record: this.#isEnded ? null : this.record }),
      unfollow: () => ({}),
      drivers: () => ({}),
      watch: () => ({}),
    })
    this.live = new LiveExecutions(
      () => this.link,
      () => this.journal,
    )
    this.operations = createOperations({
      link: () => this.link,
      journal: () => this.journal,
      transcripts: () => this.transcripts.reader,
      live: this.live,
      policy: "everything",
      output: this.output,
      screens: { follow: () => undefined, screenOf: async () => fail(noScreens) },
      notify: { settings: null, courier: async () => null },
      isOfFleet: false,
    })
    this.journal.write(this.#record)
  }

  get record(): ExecutionRecord {
    return { ...this.#record, transcript: this.#writer.facts() }
  }

  get #isEnded(): boolean {
    return this.#record.state.kind === "ended"
  }

  /** The child writes, and the gateway is told. */
  write(data: string | Uint8Array, stream: StreamName = "stdout", time = noon): void {
    this.#writer.append(stream, Buffer.from(data), time)
    this.#advance()
  }

  resize(size: TerminalSize, time = noon): void {
    this.#writer.appendResize(size, time)
    this.#advance()
  }

  #advance(): void {
    const { transcript } = this.record
    this.live.apply({ ...noUpdates, changes: [], advances: [{ executionId: this.id, transcript }] })
  }

  change(state: ExecutionRecord["state"]): void {
    this.#record = { ...this.record, state }
    this.journal.write(this.#record)
    this.live.apply({ ...noUpdates, changes: [this.#record], advances: [] })
  }

  end(): void {
    this.#record = { ...this.#record, hashes: this.#writer.hashes() }
    this.change({ kind: "ended", outcome: { kind: "exited", exitCode: 0 } })
  }

  /** Retention takes its transcript. */
  expire(): void {
    this.journal.expired.add(this.id)
    this.transcripts.store.remove(this.id)
  }

  async open(from = "start"): Promise<OutputFeed> {
    const opened = await this.operations.open(caller, this.id, from)
    if (!opened.ok) throw new Error(opened.failure.message)
    return opened.value
  }

  [Symbol.dispose](): void {
    this.#writer[Symbol.dispose]()
    this.transcripts[Symbol.dispose]()
  }
}

/** Everything a feed has to say now, its bytes copied. */
export function eventsOf(feed: OutputFeed, form: "text" | "bytes"): FeedEvent[] {
  const events: FeedEvent[] = []
  for (let event = feed.next(form); event !== null; event = feed.next(form)) {
    events.push(event.kind === "output" ? { ...event, bytes: event.bytes.slice() } : event)
  }
  return events
}

export function kindsOf(events: FeedEvent[]): string[] {
  return events.map(({ kind }) => kind)
}

export function bytesIn(events: FeedEvent[], stream: StreamName): Buffer {
  return Buffer.concat(
    events.flatMap((event) =>
      event.kind === "output" && event.stream === stream ? [event.bytes] : [],
    ),
  )
}

export function textIn(events: FeedEvent[], stream: StreamName = "stdout"): string {
  return bytesIn(events, stream).toString()
}

const noScreens = failure("INTERNAL", "Nobody keeps screens here.")
