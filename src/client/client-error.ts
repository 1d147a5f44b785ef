import type { Failure } from "../protocol/failure.ts"

/** The server refused. `failure.reason` is the stable name to decide by. */
export class CallError extends Error {
  override readonly name = "CallError"
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

/** The connection broke and what was asked may or may not have been done; or it never came back. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError"
}

/** The client was closed by its user. Executions go on without it. */
export class ClientClosedError extends Error {
  override readonly name = "ClientClosedError"

  constructor() {
    super("The client was closed. Executions go on; connect again to follow them.")
  }
}

/** A session has one subscription per execution: a second one would take the first one's output. */
export class AlreadyAttachedError extends Error {
  override readonly name = "AlreadyAttachedError"

  constructor(executionId: string) {
    super(`This client follows execution ${executionId} already: detach first, or use that one.`)
  }
}

/** The end of an execution was still awaited when its follower detached. */
export class DetachedError extends Error {
  override readonly name = "DetachedError"

  constructor(executionId: string) {
    super(`Detached from execution ${executionId}: it goes on, but its end is not followed here.`)
  }
}
