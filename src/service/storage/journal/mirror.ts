import type { Database } from "bun:sqlite"
import { z } from "zod"
import type { SignedReceipt } from "../../../execution/receipt.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { Mirror } from "../../../fleet/mirror-port.ts"
import { removeOwned } from "../../../lib/owned-file.ts"
import { ok, type Result } from "../../../lib/result.ts"
import { openForWriting, preparing } from "./connection.ts"
import type { JournalFailure } from "./journal-failure.ts"
import { openJournalReader } from "./journal-reader.ts"
import { labelText, storedRecordOf } from "./stored-record.ts"

/**
 * A database of a journal's form for what other nodes have told. It is made anew each time: all of
 * it is told again.
 */
export function openMirror(path: string): Result<Mirror & Disposable, JournalFailure> {
  for (const suffix of ["", "-wal", "-shm"]) removeOwned(`${path}${suffix}`)
  const opened = openForWriting(path)
  if (!opened.ok) return opened
  const database = opened.value
  const reading = openJournalReader(path)
  if (!reading.ok) {
    database.close()
    return reading
  }
  using open = new DisposableStack()
  const reader = open.use(reading.value)
  const statements = prepareMirrorStatements(database, open)
  const put = database.transaction((record: ExecutionRecord, receipt: SignedReceipt | null) => {
    const { state, endedAtMs, transcriptBytes, json } = storedRecordOf(record)
    const row =
      statements.update.get(record.id, state, endedAtMs, transcriptBytes, json) ??
      insert(record, state, endedAtMs, transcriptBytes, json)
    const { ordinal } = OrdinalRow.parse(row)
    if (receipt !== null) statements.putReceipt.run(ordinal, JSON.stringify(receipt))
  })
  const kept = open.move()
  return ok({
    find: (id) => reader.find(id),
    owned: (id) => reader.owned(id),
    withName: (...asked) => reader.withName(...asked),
    withPrefix: (...asked) => reader.withPrefix(...asked),
    list: (...asked) => reader.list(...asked),
    receipt: (id) => reader.receipt(id),
    countLive: () => reader.countLive(),
    put: (record, receipt) => put(record, receipt),
    remove: (id) => void statements.remove.run(id),
    [Symbol.dispose]() {
      kept.dispose()
      database.close(true)
    },
  })

  function insert(
    { id, principal, createdAt, spec }: ExecutionRecord,
    state: string,
    endedAtMs: number | null,
    transcriptBytes: number,
    json: string,
  ): unknown {
    const createdAtMs = Date.parse(createdAt)
    const row = statements.insert.get(
      id,
      principal,
      state,
      createdAtMs,
      endedAtMs,
      transcriptBytes,
      json,
    )
    const { ordinal } = OrdinalRow.parse(row)
    statements.insertSpec.run(ordinal, JSON.stringify(spec))
    for (const [name, value] of Object.entries(spec.labels)) {
      statements.insertLabel.run(labelText(name, value), ordinal)
    }
    return row
  }
}

const OrdinalRow = z.object({ ordinal: z.int() })

function prepareMirrorStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  return {
    update: prepare<[string, string, number | null, number, string]>(
      `UPDATE executions SET state = ?2, ended_at_ms = ?3, transcript_bytes = ?4, record = ?5
       WHERE id = ?1 RETURNING ordinal`,
    ),
    insert: prepare<[string, string, string, number, number | null, number, string]>(
      `INSERT INTO executions
         (id, principal, state, created_at_ms, ended_at_ms, transcript_bytes, record)
       VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING ordinal`,
    ),
    insertSpec: prepare<[number, string]>("INSERT INTO specs (execution, spec) VALUES (?, ?)"),
    insertLabel: prepare<[string, number]>("INSERT INTO labels (label, execution) VALUES (?, ?)"),
    putReceipt: prepare<[number, string]>(
      `INSERT INTO receipts (execution, envelope) VALUES (?1, ?2)
       ON CONFLICT (execution) DO UPDATE SET envelope = ?2`,
    ),
    remove: prepare<[string]>("DELETE FROM executions WHERE id = ?"),
  }
}
