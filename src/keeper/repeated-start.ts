import type { ExecutionId } from "../execution/id.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import { type Failure, failure } from "../protocol/failure.ts"

/** The answer to a request whose key was seen before: nothing is started a second time. */
export function repeatedStart(
  key: string,
  fingerprint: string,
  earlier: { fingerprint: string; record: ExecutionRecord | null },
  live: (id: ExecutionId) => ExecutionRecord | undefined,
): Result<{ record: ExecutionRecord; repeated: true }, Failure> {
  if (earlier.fingerprint !== fingerprint) {
    const message = `The idempotency key ${JSON.stringify(key)} was used for another request.`
    return fail(failure("IDEMPOTENCY_MISMATCH", message))
  }
  if (earlier.record === null) {
    const message = `What was started with the key ${JSON.stringify(key)} has been removed.`
    return fail(failure("EXPIRED", message))
  }
  return ok({ record: live(earlier.record.id) ?? earlier.record, repeated: true })
}
