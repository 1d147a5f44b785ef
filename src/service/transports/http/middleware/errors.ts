import type { ErrorHandler, NotFoundHandler } from "hono"
import { failure } from "../../../../protocol/failure.ts"
import { refuse } from "../answer.ts"
import type { HttpEnvironment, HttpLog } from "../ports.ts"

/** What was thrown is a bug: told in full to the log, and to the caller only that it happened. */
export function thrownError(log: HttpLog): ErrorHandler<HttpEnvironment> {
  return (error, c) => {
    const requestId = c.get("requestId")
    // A body that breaks off because its sender went away is nobody's bug.
    if (c.req.raw.signal.aborted) log.debug({ requestId }, "http request was aborted")
    else log.error({ requestId, err: error }, "http request threw")
    const message = `Something went wrong here. The log has more about request ${requestId}.`
    return refuse(failure("INTERNAL", message, { request_id: requestId }))
  }
}

export const unknownRoute: NotFoundHandler<HttpEnvironment> = (c) => {
  const message = `There is no ${c.req.raw.method} ${c.req.path}: see /openapi.json.`
  return refuse(failure("METHOD_NOT_FOUND", message))
}
