import type { Database } from "bun:sqlite"
import assert from "node:assert/strict"
import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import type { SignedReceipt } from "../../../execution/receipt.ts"
import { type ExecutionRecord, hasEnded } from "../../../execution/record.ts"
import type { ExecutionEvent } from "../../../execution/state.ts"
import type { TrialId, TrialPart, TrialVerdict } from "../../../execution/trial/announcement.ts"
import { ok, type Result } from "../../../lib/result.ts"
import type { NoticeSource, Outbox } from "../../keeper/outbox.ts"
import type { Clock, IdempotencyEntry, Journal } from "../../keeper/ports.ts"
import type { TrialStore } from "../../keeper/trial-store.ts"
import { openForWriting, type WriteTransaction, writeTransactions } from "./connection.ts"
import { isOutOfRoom, type JournalFailure } from "./journal-failure.ts"
import { createLogSync } from "./log-sync.ts"
import { keepMigration } from "./migrations.ts"
import { SqliteOutbox } from "./outbox.ts"
import { labelText, parseRecordRow, storedRecordOf } from "./stored-record.ts"
import { SqliteTrials } from "./trials.ts"
import { prepareWriterStatements, type WriterStatements } from "./writer-statements.ts"

export type OpenJournal = Journal &
  Disposable & {
    readonly trials: TrialStore
    readonly outbox: Outbox
    /** Where that waits to be told: from now on the journal is this program's version. */
    keepMigration(): void
  }

/** The one writer. A second one on the same file is excluded by the state directory's lock. */
export function openJournal(
  path: string,
  clock: Clock,
  migration: "at once" | "when told" = "at once",
  notices: NoticeSource = nobodyIsTold,
): Result<OpenJournal, JournalFailure> {
  const opened = openForWriting(path, migration)
  return opened.ok ? ok(new SqliteJournal(opened.value, path, clock, notices)) : opened
}

const nobodyIsTold: NoticeSource = {
  isActive: false,
  ofChange: () => [],
  ofVerdict: () => [],
  written: () => undefined,
}

const keysKeptMs = 24 * 60 * 60 * 1000

// Bounds the log that one transaction makes, and so the disk that expiring needs.
const expireBatch = 500

const OrdinalRow = z.object({ ordinal: z.int() })
const KeyRow = z.object({ fingerprint: z.string(), execution_id: ExecutionId })
const EndedRow = z.object({
  id: ExecutionId,
  ended_at_ms: z.int(),
  transcript_bytes: z.int(),
})
const OwnedRow = EndedRow.omit({ ended_at_ms: true }).extend({ principal: z.string() })

class SqliteJournal implements OpenJournal {
  readonly #database: Database
  readonly #path: string
  readonly #clock: Clock
  readonly #open = new DisposableStack()
  readonly #write: WriteTransaction
  readonly #statements: WriterStatements
  readonly #sync: () => Promise<void>
  readonly #notices: NoticeSource
  #outbox: SqliteOutbox | null = null
  readonly trials: TrialStore

  constructor(database: Database, path: string, clock: Clock, notices: NoticeSource) {
    this.#database = database
    this.#path = path
    this.#clock = clock
    this.#write = writeTransactions(database, path, this.#open)
    this.#statements = prepareWriterStatements(database, this.#open)
    this.#sync = createLogSync(path)
    this.#notices = notices
    this.trials = new SqliteTrials(database, path, this.#write, this.#open, {
      write: (id, verdict) => this.#tellVerdict(id, verdict),
      written: (last) => notices.written(last),
    })
  }

  keepMigration(): void {
    keepMigration(this.#database)
  }

  /** Made when it is first asked for: most services tell nobody of anything. */
  get outbox(): SqliteOutbox {
    this.#outbox ??= new SqliteOutbox(this.#database, this.#clock, this.#write, this.#open)
    return this.#outbox
  }

  create(
    record: ExecutionRecord,
    idempotency: IdempotencyEntry | null,
    goesOnWith: ExecutionRecord | null = null,
  ): void {
    assert(!hasEnded(record), `execution ${record.id} would end without its receipt`)
    const { insertExecution, insertSpec, insertLabel, insertKey } = this.#statements
    const { id, spec } = record
    const { state, transcriptBytes, json } = storedRecordOf(record)
    const createdAtMs = Date.parse(record.createdAt)

    this.#write(() => {
      const row = insertExecution.get(
        id,
        record.principal,
        state,
        createdAtMs,
        transcriptBytes,
        json,
      )
      const { ordinal } = OrdinalRow.parse(row)
      insertSpec.run(ordinal, JSON.stringify(spec))
      for (const [name, value] of Object.entries(spec.labels)) {
        insertLabel.run(labelText(name, value), ordinal)
      }
      if (record.trial !== undefined) this.#takeStep(record.trial, id)
      if (idempotency !== null) {
        const { principal, key, fingerprint } = idempotency
        insertKey.run(principal, key, fingerprint, id, this.#clock.now().getTime())
      }
      if (goesOnWith !== null) {
        this.#update({ ...goesOnWith, restart: { kind: "restarted", as: id } })
      }
    })
  }

  #takeStep(part: TrialPart, id: ExecutionId): void {
    const taken = this.#statements.takeStep.get(part.id, part.step, id)
    assert(taken !== null, `step ${part.step} of trial ${part.id} was started already`)
  }

  append(event: ExecutionEvent, record: ExecutionRecord): void {
    assert(!hasEnded(record), `execution ${record.id} would end without its receipt`)
    this.#writeChange(record, () => this.#advance([event], record))
  }

  end(events: readonly ExecutionEvent[], record: ExecutionRecord, receipt: SignedReceipt): void {
    assert(hasEnded(record), `execution ${record.id} has a receipt before its end`)
    this.#writeChange(record, () => {
      const ordinal = this.#advance(events, record)
      this.#statements.insertReceipt.run(ordinal, JSON.stringify(receipt))
    })
  }

  /** With what is to be told of it, in one transaction; then whoever delivers that is woken. */
  #writeChange(record: ExecutionRecord, write: () => void): void {
    if (!this.#notices.isActive) return this.#write(write)
    const last = this.#write(() => {
      const before = record.spec.agent === undefined ? null : this.find(record.id)
      write()
      return this.outbox.addWith(this.#notices, before, record)
    })
    if (last !== null) this.#notices.written(last)
  }

  #tellVerdict(id: TrialId, verdict: TrialVerdict): number | null {
    const trial = this.#notices.isActive ? this.trials.find(id) : null
    if (trial === null) return null
    const steps = () =>
      this.trials.steps(id).flatMap(({ executionId }) => this.find(executionId) ?? [])
    return this.outbox.insert(this.#notices.ofVerdict(trial, verdict, steps))
  }

  #advance(events: readonly ExecutionEvent[], record: ExecutionRecord): number {
    const { advance, insertEvent } = this.#statements
    const { state, endedAtMs, transcriptBytes, json } = storedRecordOf(record)
    const row = advance.get(record.id, state, endedAtMs, transcriptBytes, json)
    assert(row !== null, `execution ${record.id} is not in the journal, or has ended there`)

    const { ordinal } = OrdinalRow.parse(row)
    const nowMs = this.#clock.now().getTime()
    for (const event of events) insertEvent.run(ordinal, nowMs, JSON.stringify(event))
    return ordinal
  }

  update(record: ExecutionRecord): void {
    this.#writeChange(record, () => this.#update(record))
  }

  #update(record: ExecutionRecord): void {
    const { state, transcriptBytes, json } = storedRecordOf(record)
    const row = this.#statements.update.get(record.id, state, transcriptBytes, json)
    assert(row !== null, `execution ${record.id} is not in the journal, or an end would change`)
  }

  find(id: ExecutionId): ExecutionRecord | null {
    const row = this.#statements.find.get(id)
    return row === null ? null : parseRecordRow(row, this.#path).record
  }

  findByKey(
    principal: string,
    key: string,
  ): { fingerprint: string; record: ExecutionRecord | null } | null {
    const row = this.#statements.findKey.get(principal, key)
    if (row === null) return null
    const { fingerprint, execution_id } = KeyRow.parse(row)
    return { fingerprint, record: this.find(execution_id) }
  }

  unfinished(): ExecutionRecord[] {
    const rows = this.#statements.unfinished.all()
    return rows.map((row) => parseRecordRow(row, this.#path).record)
  }

  endedWithTranscript(): Array<{ id: ExecutionId; endedAt: string; bytes: number }> {
    return this.#statements.endedWithTranscript.all().map((row) => {
      const { id, ended_at_ms, transcript_bytes } = EndedRow.parse(row)
      return { id, endedAt: new Date(ended_at_ms).toISOString(), bytes: transcript_bytes }
    })
  }

  endedByPrincipal(): Array<{ id: ExecutionId; principal: string; bytes: number }> {
    return this.#statements.endedByPrincipal.all().map((row) => {
      const { id, principal, transcript_bytes } = OwnedRow.parse(row)
      return { id, principal, bytes: transcript_bytes }
    })
  }

  transcriptRemoved(id: ExecutionId): void {
    this.#write(() => this.#statements.forgetTranscript.run(id))
  }

  remove(id: ExecutionId): void {
    const { remove, find } = this.#statements
    this.#write(() => {
      const removed = remove.get(id) !== null
      assert(removed || find.get(id) === null, `execution ${id} is live and cannot be removed`)
    })
  }

  withdraw(
    id: ExecutionId,
    idempotency: IdempotencyEntry | null,
    goesOnWith: ExecutionRecord | null = null,
  ): void {
    const { withdraw, withdrawKey, freeStep } = this.#statements
    this.#write(() => {
      freeStep.run(id)
      if (idempotency !== null) withdrawKey.run(idempotency.principal, idempotency.key, id)
      withdraw.run(id)
      if (goesOnWith !== null) this.#update(goesOnWith)
    })
  }

  /**
   * An execution whose transcript is kept stays: its files would belong to nobody. So does the key
   * of one that still runs, for a repeat would start it a second time.
   */
  expire(before: { recordsEndedBefore: Date; keysBefore: Date }): number {
    const { expireRecords, expireKeys } = this.#statements
    const newestKeyMs = this.#clock.now().getTime() - keysKeptMs
    const keysBeforeMs = Math.min(before.keysBefore.getTime(), newestKeyMs)
    return (
      this.#inBatches(() => expireRecords.all(before.recordsEndedBefore.getTime(), expireBatch)) +
      this.#inBatches(() => expireKeys.all(keysBeforeMs, expireBatch))
    )
  }

  #inBatches(removeSome: () => unknown[]): number {
    let removed = 0
    for (;;) {
      const { length } = this.#write(removeSome)
      removed += length
      if (length < expireBatch) return removed
    }
  }

  sync(): Promise<void> {
    return this.#sync()
  }

  [Symbol.dispose](): void {
    if (this.#database.inTransaction) this.#database.run("ROLLBACK") // a migration nobody wanted
    try {
      this.#statements.checkpoint.all()
    } catch (error) {
      if (!isOutOfRoom(error)) throw error // what is not copied stays in the log, and is safe there
    } finally {
      this.#open.dispose()
      this.#database.close(true)
    }
  }
}
