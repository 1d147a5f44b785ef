import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Completed } from "../../protocol/notifications.ts"

/** What `process.completed` would have said, from an execution's status; null before its end. */
export function completedFrom(view: ExecutionView): Completed | null {
  const { ending } = view
  if (ending === null) return null
  const succeeded = ending.outcome === "exited" && ending.exit_code === 0
  return {
    execution_id: view.execution_id,
    status: succeeded ? "completed" : "failed",
    ...ending,
    execution_time: view.execution_time,
    bytes: view.bytes,
    lines: view.lines,
    dropped: view.dropped,
    redacted: view.redacted,
    hashes: view.hashes,
    survivors: view.survivors,
  }
}
