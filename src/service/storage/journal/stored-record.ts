import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import { SignedReceipt } from "../../../execution/receipt.ts"
import { ExecutionRecord, retainedBytes } from "../../../execution/record.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { JournalDamagedError } from "./journal-failure.ts"

/** A record as rows hold it: the spec, which never changes, apart from what does. */
export type StoredRecord = {
  state: string
  endedAtMs: number | null
  transcriptBytes: number
  json: string
}

export function storedRecordOf(record: ExecutionRecord): StoredRecord {
  return {
    state: record.state.kind,
    endedAtMs: record.endedAt === null ? null : Date.parse(record.endedAt),
    transcriptBytes: retainedBytes(record.transcript),
    json: JSON.stringify({ ...record, spec: undefined }), // what is undefined is left out
  }
}

/** One exact string for a name and a value, whatever characters they have. */
export function labelText(name: string, value: string): string {
  return JSON.stringify([name, value])
}

/** That an execution has every label of the JSON list `$labels`. */
export function hasAllLabels(ordinal: string): string {
  return `NOT EXISTS (
    SELECT 1 FROM json_each($labels) AS wanted WHERE NOT EXISTS (
      SELECT 1 FROM labels WHERE label = wanted.value AND execution = ${ordinal}))`
}

export const recordColumns = "e.ordinal, e.id, e.record, s.spec"
export const recordTables = "executions AS e JOIN specs AS s ON s.execution = e.ordinal"

const RecordRow = z.object({
  ordinal: z.int(),
  id: ExecutionId,
  record: z.string(),
  spec: z.string(),
})

export function parseRecordRow(
  row: unknown,
  path: string,
): { ordinal: number; record: ExecutionRecord } {
  const { ordinal, id, record, spec } = RecordRow.parse(row)
  const changing = tryParseJson(record)
  const whole = typeof changing === "object" ? { ...changing, spec: tryParseJson(spec) } : changing
  const parsed = ExecutionRecord.safeParse(whole)
  if (!parsed.success) throw damaged(`execution ${id}`, path, parsed.error)
  return { ordinal, record: parsed.data }
}

export function parseReceiptRow(row: unknown, id: ExecutionId, path: string): SignedReceipt {
  const { envelope } = z.object({ envelope: z.string() }).parse(row)
  const parsed = SignedReceipt.safeParse(tryParseJson(envelope))
  if (!parsed.success) throw damaged(`the receipt of execution ${id}`, path, parsed.error)
  return parsed.data
}

function damaged(what: string, path: string, error: z.ZodError): JournalDamagedError {
  return new JournalDamagedError(what, path, z.prettifyError(error).replaceAll("\n", " "))
}
