import type { ExecutionRecord } from "../../../execution/record.ts"
import { fail, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { SupervisionPorts } from "../supervision/supervision-ports.ts"

/** Whatever goes wrong with one start is that execution's affair. */
export function containedStart(
  { record }: { record: ExecutionRecord },
  ports: Pick<SupervisionPorts, "broke">,
  start: () => Result<ExecutionRecord, Failure>,
): Result<ExecutionRecord, Failure> {
  try {
    return start()
  } catch (error) {
    ports.broke(record, error)
    return fail(failure("INTERNAL", `Could not start: ${String(error)}.`))
  }
}
