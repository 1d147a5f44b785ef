import type { Result } from "../../../lib/result.ts"
import { type Failure, failure, wireCodes, wireError } from "../../../protocol/failure.ts"

/** A failure for which HTTP may have a more fitting status than its reason's usual one. */
export type HttpFailure = Failure & { httpStatus?: number }

/** The success as JSON, the failure as an error. */
export function answer(result: Result<unknown, HttpFailure>): Response {
  return result.ok ? Response.json(result.value) : refuse(result.failure)
}

/** The error stands among other fields where something else than this API is spoken. */
export function refuse(
  refused: HttpFailure,
  headers: Record<string, string> = {},
  fields: Record<string, unknown> = {},
): Response {
  const status = refused.httpStatus ?? wireCodes(refused.reason).http
  const response = Response.json({ ...fields, error: wireError(refused) }, { status, headers })
  const retryAfter = refused.details?.["retry_after"]
  if (typeof retryAfter === "number") {
    response.headers.set("Retry-After", String(Math.ceil(retryAfter)))
  }
  if (status === 401) response.headers.set("WWW-Authenticate", "Bearer")
  refusals.set(response, refused)
  return response
}

/** The server has read both and can answer neither, so the first is not carried out. */
export const tooEarly = failure(
  "INVALID_REQUEST",
  "Another request, or the end of the connection, came with this one. Nothing was carried out: " +
    "wait for each answer before you send the next request.",
)

export const brokenOff = failure(
  "PARSE_ERROR",
  "The connection ended before the body of the request had.",
)

/** Why a response refuses, null when it does not. */
export function refusalIn(response: Response): HttpFailure | null {
  return refusals.get(response) ?? null
}

// Routes answer with a response and no more; for the audit trail it has to be known which it is.
const refusals = new WeakMap<Response, HttpFailure>()
