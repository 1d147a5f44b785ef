import type { ExecutionRecord, Survivor } from "../../../execution/record.ts"
import { type ExecutionEvent, transition } from "../../../execution/state.ts"
import type { Redaction } from "../ports.ts"

/** The record as it is after these events, the last of which ends it. */
export function endedRecord(
  record: ExecutionRecord,
  events: readonly ExecutionEvent[],
  ending: Pick<ExecutionRecord, "use" | "hashes" | "survivors"> & { endedAt: string },
  redaction: Redaction | null,
): ExecutionRecord {
  return {
    ...record,
    ...ending,
    survivors: redactSurvivors(ending.survivors, redaction),
    blocked: false,
    state: events.reduce(transition, record.state),
  }
}

/** Their command lines come from the machine, and may say what the request's did. */
function redactSurvivors(survivors: readonly Survivor[], redaction: Redaction | null): Survivor[] {
  return survivors.map(({ pid, command }) => ({
    pid,
    command: redaction?.text(command).text ?? command,
  }))
}
