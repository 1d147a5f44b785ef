import type { Database } from "bun:sqlite"
import { preparing } from "./connection.ts"
import { recordColumns, recordTables } from "./stored-record.ts"

/** A trial that has not ended will be judged by the executions of its steps. */
const isFree = `id NOT IN (
  SELECT s.execution_id FROM trial_steps AS s JOIN trials AS t ON t.id = s.trial
  WHERE t.verdict IS NULL AND s.execution_id IS NOT NULL)`

export type WriterStatements = ReturnType<typeof prepareWriterStatements>

export function prepareWriterStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  return {
    insertExecution: prepare<[string, string, string, number, number, string]>(
      `INSERT INTO executions (id, principal, state, created_at_ms, transcript_bytes, record)
       VALUES (?, ?, ?, ?, ?, ?) RETURNING ordinal`,
    ),
    insertSpec: prepare<[number, string]>("INSERT INTO specs (execution, spec) VALUES (?, ?)"),
    insertLabel: prepare<[string, number]>("INSERT INTO labels (label, execution) VALUES (?, ?)"),
    insertKey: prepare<[string, string, string, string, number]>(
      `INSERT INTO idempotency (principal, key, fingerprint, execution_id, created_at_ms)
       VALUES (?, ?, ?, ?, ?)`,
    ),

    advance: prepare<[string, string, number | null, number, string]>(
      `UPDATE executions SET state = ?2, ended_at_ms = ?3, transcript_bytes = ?4, record = ?5
       WHERE id = ?1 AND ended_at_ms IS NULL RETURNING ordinal`,
    ),
    insertEvent: prepare<[number, number, string]>(
      `INSERT INTO events (execution, number, at_ms, event)
       SELECT ?1, coalesce(max(number), 0) + 1, ?2, ?3 FROM events WHERE execution = ?1`,
    ),
    insertReceipt: prepare<[number, string]>(
      "INSERT INTO receipts (execution, envelope) VALUES (?, ?)",
    ),
    // The state comes along: a full disk may have kept the event that led to it from being written.
    takeStep: prepare<[string, string, string]>(
      `UPDATE trial_steps SET execution_id = ?3
       WHERE trial = ?1 AND step = ?2 AND execution_id IS NULL RETURNING step`,
    ),
    freeStep: prepare<[string]>(
      "UPDATE trial_steps SET execution_id = NULL WHERE execution_id = ?",
    ),
    update: prepare<[string, string, number, string]>(
      `UPDATE executions SET state = ?2, transcript_bytes = ?3, record = ?4
       WHERE id = ?1 AND (ended_at_ms IS NULL) = (?2 <> 'ended') RETURNING ordinal`,
    ),

    find: prepare<[string]>(`SELECT ${recordColumns} FROM ${recordTables} WHERE e.id = ?`),
    findKey: prepare<[string, string]>(
      "SELECT fingerprint, execution_id FROM idempotency WHERE principal = ? AND key = ?",
    ),
    unfinished: prepare<[]>(
      `SELECT ${recordColumns} FROM ${recordTables}
       WHERE e.ended_at_ms IS NULL ORDER BY e.ordinal`,
    ),
    endedWithTranscript: prepare<[]>(
      `SELECT id, ended_at_ms, transcript_bytes FROM executions
       WHERE ended_at_ms IS NOT NULL AND has_transcript = 1 AND ${isFree} ORDER BY ended_at_ms`,
    ),
    endedByPrincipal: prepare<[]>(
      `SELECT id, principal, transcript_bytes FROM executions
       WHERE ended_at_ms IS NOT NULL AND has_transcript = 1 AND ${isFree} ORDER BY ended_at_ms`,
    ),

    forgetTranscript: prepare<[string]>(
      "UPDATE executions SET has_transcript = 0 WHERE id = ? AND ended_at_ms IS NOT NULL",
    ),
    remove: prepare<[string]>(
      "DELETE FROM executions WHERE id = ? AND ended_at_ms IS NOT NULL RETURNING ordinal",
    ),
    withdraw: prepare<[string]>("DELETE FROM executions WHERE id = ? AND ended_at_ms IS NULL"),
    withdrawKey: prepare<[string, string, string]>(
      "DELETE FROM idempotency WHERE principal = ? AND key = ? AND execution_id = ?",
    ),
    expireRecords: prepare<[number, number]>(
      `DELETE FROM executions WHERE ordinal IN (
         SELECT ordinal FROM executions
         WHERE ended_at_ms IS NOT NULL AND has_transcript = 0 AND ended_at_ms < ? LIMIT ?)
       RETURNING ordinal`,
    ),
    expireKeys: prepare<[number, number]>(
      `DELETE FROM idempotency WHERE (principal, key) IN (
         SELECT principal, key FROM idempotency
         WHERE created_at_ms < ? AND NOT EXISTS (
           SELECT 1 FROM executions WHERE id = execution_id AND ended_at_ms IS NULL) LIMIT ?)
       RETURNING 1`,
    ),
    checkpoint: prepare<[]>("PRAGMA wal_checkpoint(TRUNCATE)"),
  }
}
