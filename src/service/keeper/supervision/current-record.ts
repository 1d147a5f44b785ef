import type { ExecutionRecord } from "../../../execution/record.ts"
import type { RunningClocks } from "./running-clocks.ts"
import type { SupervisedChild } from "./supervised-child.ts"

/** A record with what advances all the time, as it stands now. */
export function currentRecord(
  record: ExecutionRecord,
  clocks: RunningClocks,
  supervised: SupervisedChild | null,
): ExecutionRecord {
  const { redacted } = record
  return {
    ...record,
    ...clocks.read(),
    transcript: supervised?.transcript?.facts() ?? record.transcript,
    redacted: redacted && { ...redacted, ...supervised?.recorder?.redacted },
    stdinBytes: supervised?.input?.taken ?? 0,
  }
}
