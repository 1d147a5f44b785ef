import type { Database } from "bun:sqlite"
import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import type { NamedExecution } from "../../../execution/identify.ts"
import type { SignedReceipt } from "../../../execution/receipt.ts"
import type { ExecutionRecord, Owned } from "../../../execution/record.ts"
import { StateKind } from "../../../execution/state.ts"
import type { TrialId } from "../../../execution/trial/announcement.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import { ok, type Result } from "../../../lib/result.ts"
import type { JournalReader, ListPage, Looks, Viewer } from "../../gateway/ports.ts"
import type { TrialChain, TrialSought } from "../../gateway/trial-ports.ts"
import { openForReading, preparing } from "./connection.ts"
import type { JournalFailure } from "./journal-failure.ts"
import { ListQuery } from "./list-query.ts"
import { NamedExecutions } from "./named-executions.ts"
import { SqliteOutboxReader } from "./outbox-reader.ts"
import { parseReceiptRow, parseRecordRow, recordColumns, recordTables } from "./stored-record.ts"
import { TrialReader } from "./trial-reader.ts"
import { VisibleExecutions } from "./visible-executions.ts"

const mostOpenRestarts = 1000

const StateRow = z.object({ state: StateKind })

/** Reads beside the writer, from any process. No read waits for a write, nor holds one up. */
export function openJournalReader(
  path: string,
): Result<JournalReader & Disposable, JournalFailure> {
  const opened = openForReading(path)
  return opened.ok ? ok(new SqliteJournalReader(opened.value, path)) : opened
}

class SqliteJournalReader implements JournalReader, Disposable {
  readonly #database: Database
  readonly #path: string
  readonly #open = new DisposableStack()
  readonly #list: ListQuery
  readonly #visible: VisibleExecutions
  readonly #named: NamedExecutions
  readonly #trials: TrialReader
  #outbox: SqliteOutboxReader | null = null
  readonly #statements

  constructor(database: Database, path: string) {
    this.#database = database
    this.#path = path
    this.#visible = new VisibleExecutions(database, path, this.#open)
    this.#named = new NamedExecutions(database, this.#open)
    this.#trials = new TrialReader(database, path, this.#open)
    this.#list = new ListQuery(database, path, this.#visible, this.#open)
    this.#statements = prepareReaderStatements(database, this.#open)
  }

  /** Made when it is first asked for: most services tell nobody of anything. */
  get outbox(): SqliteOutboxReader {
    this.#outbox ??= new SqliteOutboxReader(this.#database, this.#path, this.#open)
    return this.#outbox
  }

  find(id: ExecutionId): ExecutionRecord | null {
    const row = this.#statements.find.get(id)
    return row === null ? null : parseRecordRow(row, this.#path).record
  }

  owned(id: ExecutionId): Owned | null {
    return this.#visible.owned(id)
  }

  withName(name: string, principal: string | null, viewer: Viewer | null = null): NamedExecution[] {
    return this.#named.find(name, principal, viewer)
  }

  withPrefix(prefix: string, limit: number, viewer: Viewer | null = null): ExecutionId[] {
    const end = `${prefix}{` // an id has only a-z and 2-7, and "{" is the character after "z"
    if (viewer !== null) return this.#visible.withPrefix(prefix, end, limit, viewer)
    const rows = this.#statements.withPrefix.all(prefix, end, limit)
    return rows.map((row) => z.object({ id: ExecutionId }).parse(row).id)
  }

  list(
    filter: Parameters<JournalReader["list"]>[0],
    viewer: Viewer | null = null,
    looks: Looks = { left: Number.POSITIVE_INFINITY },
  ): ListPage | null {
    return this.#list.page(filter, viewer, looks)
  }

  /** How many of the executions that have not ended are in each state. */
  countLive(): Partial<Record<ExecutionRecord["state"]["kind"], number>> {
    const counts: Partial<Record<ExecutionRecord["state"]["kind"], number>> = {}
    for (const row of this.#statements.liveStates.all()) {
      const { state } = StateRow.parse(row)
      counts[state] = (counts[state] ?? 0) + 1
    }
    return counts
  }

  hasOpenTrials(): boolean {
    return this.#trials.hasOpen()
  }

  trial(id: TrialId) {
    return this.#trials.find(id)
  }

  trialChain(sought: TrialSought, principal: string | null): TrialChain | null {
    return this.#trials.chain(sought, principal)
  }

  trials(chain: TrialChain, from: number, limit: number): Iterable<RecordedTrial> {
    return this.#trials.page(chain, from, limit)
  }

  receipt(id: ExecutionId): SignedReceipt | null {
    const row = this.#statements.receipt.get(id)
    return row === null ? null : parseReceiptRow(row, id, this.#path)
  }

  keepsTranscript(id: ExecutionId): boolean {
    return this.#statements.keepsTranscript.get(id) !== null
  }

  openRestarts(): ExecutionRecord[] {
    const rows = this.#statements.openRestarts.all(mostOpenRestarts)
    return rows.map((row) => parseRecordRow(row, this.#path).record)
  }

  [Symbol.dispose](): void {
    this.#open.dispose()
    this.#database.close(true)
  }
}

export function prepareReaderStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  return {
    find: prepare<[string]>(`SELECT ${recordColumns} FROM ${recordTables} WHERE e.id = ?`),
    withPrefix: prepare<[string, string, number]>(
      "SELECT id FROM executions WHERE id >= ? AND id < ? ORDER BY id LIMIT ?",
    ),
    liveStates: prepare<[]>("SELECT state FROM executions WHERE ended_at_ms IS NULL"),
    keepsTranscript: prepare<[string]>(
      "SELECT 1 FROM executions WHERE id = ? AND has_transcript = 1",
    ),
    openRestarts: prepare<[number]>(
      `SELECT ${recordColumns} FROM ${recordTables}
       WHERE e.ended_at_ms IS NOT NULL AND json_extract(e.record, '$.restart.kind') <> 'restarted'
       ORDER BY e.ended_at_ms LIMIT ?`,
    ),
    receipt: prepare<[string]>(
      `SELECT envelope FROM receipts
       WHERE execution = (SELECT ordinal FROM executions WHERE id = ?)`,
    ),
  }
}
