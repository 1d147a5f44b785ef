import type { ExecutionId } from "../../execution/id.ts"
import { hasEnded } from "../../execution/record.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { KeeperPorts } from "./keeper-ports.ts"
import type { LiveTable } from "./live-table.ts"
import { diskFull } from "./starting/start-failed.ts"

/** Forgets an execution that has ended; null where there is none of that id. */
export async function removeExecution(
  id: ExecutionId,
  live: LiveTable,
  ports: Pick<KeeperPorts, "store" | "transcripts" | "withReserve" | "whyNeeded">,
): Promise<Result<Record<string, never>, Failure> | null> {
  const { store, transcripts } = ports
  const found = live.find(id)
  const recorded = found === null ? null : store.find(id)
  // Whoever reads the journal knows of its end already, which is on its way to everybody else.
  if (recorded !== null && hasEnded(recorded)) await found?.ended
  const running = live.find(id)
  if (running !== null) {
    const { kind } = running.record.state
    const message = `It is ${kind}: cancel it before you remove it.`
    return fail(failure("WRONG_STATE", message, { state: kind }))
  }
  if (store.find(id) === null) return null
  const needed = ports.whyNeeded(id)
  if (needed !== null) return fail(needed)
  const isForgotten = ports.withReserve(() => store.remove(id))
  transcripts.remove(id)
  // To forget takes room as well, and what was just removed may have been all there is.
  if (!isForgotten && !ports.withReserve(() => store.remove(id))) return diskFull
  return ok({})
}
