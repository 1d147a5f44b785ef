import { fail, type Result } from "../lib/result.ts"
import { type Failure, failure } from "./failure.ts"

/** What was done to an execution before something else failed. */
export type Deed = { executionId: string; done: string }

/**
 * Runs what follows a deed. If that fails, the failure says what was done and to which execution:
 * whoever asked must not take it for undone, and has to know what to ask for.
 */
export async function afterDeed<Value>(
  deed: Deed,
  rest: () => Promise<Result<Value, Failure>>,
): Promise<Result<Value, Failure>> {
  try {
    const outcome = await rest()
    return outcome.ok ? outcome : fail(failedAfter(deed, outcome.failure))
  } catch (error) {
    throw new ThrownAfterDeed(deed, error)
  }
}

/** What a caller is told of an error that was thrown: that it was, and what was done before. */
export function internalFailure(message: string, error: unknown): Failure {
  const refused = failure("INTERNAL", message)
  return error instanceof ThrownAfterDeed ? failedAfter(error.deed, refused) : refused
}

function failedAfter({ executionId, done }: Deed, refused: Failure): Failure {
  const message = `Execution ${executionId} was ${done}, but then: ${refused.message}`
  // Whoever repeated the request would do it once more.
  const { retry_after: _, ...details } = refused.details ?? {}
  return { ...refused, details: { ...details, execution_id: executionId, done }, message }
}

class ThrownAfterDeed extends Error {
  readonly deed: Deed

  constructor(deed: Deed, cause: unknown) {
    super(`failed after execution ${deed.executionId} was ${deed.done}`, { cause })
    this.deed = deed
  }
}
