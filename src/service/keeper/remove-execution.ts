import type { ExecutionId } from "../../execution/id.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { KeeperPorts } from "./keeper-ports.ts"
import type { LiveTable } from "./live-table.ts"
import { diskFull } from "./starting/start-failed.ts"

/** Forgets an execution that has ended; null where there is none of that id. */
export function removeExecution(
  id: ExecutionId,
  live: LiveTable,
  ports: Pick<KeeperPorts, "store" | "transcripts" | "withReserve" | "whyNeeded">,
): Result<Record<string, never>, Failure> | null {
  const running = live.find(id)
  if (running !== null) {
    const { kind } = running.record.state
    const message = `It is ${kind}: cancel it before you remove it.`
    return fail(failure("WRONG_STATE", message, { state: kind }))
  }
  const { store, transcripts } = ports
  if (store.find(id) === null) return null
  const needed = ports.whyNeeded(id)
  if (needed !== null) return fail(needed)
  const isForgotten = ports.withReserve(() => store.remove(id))
  transcripts.remove(id)
  // To forget takes room as well, and what was just removed may have been all there is.
  if (!isForgotten && !ports.withReserve(() => store.remove(id))) return diskFull
  return ok({})
}
