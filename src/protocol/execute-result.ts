import type { ExecutionRecord } from "../execution/record.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import type { ExecuteResult } from "./execute.ts"
import { type Failure, failure } from "./failure.ts"

/** What `execute` answers; a key may find one that could not be started, which is told again. */
export function executeResultOf(
  record: ExecutionRecord,
  repeated: boolean,
): Result<ExecuteResult, Failure> {
  const { id, state, leader } = record
  const again = repeated ? { repeated } : {}
  if (state.kind === "ended" && state.outcome.kind === "failed-to-start") {
    const { errno, message } = state.outcome
    return fail(failure("SPAWN_FAILED", message, { errno, execution_id: id }))
  }
  if (leader === null) return ok({ status: "queued", execution_id: id, ...again })
  const { pid } = leader
  return ok({ status: "started", execution_id: id, pid, pgid: pid, ...again })
}
