import type { MiddlewareHandler } from "hono"
import { bodyLimit as limitBody } from "hono/body-limit"
import { UsageCounter } from "../../../../lib/usage-counter.ts"
import { failure } from "../../../../protocol/failure.ts"
import { type HttpFailure, refuse } from "../answer.ts"
import type { HttpEnvironment } from "../ports.ts"

export function bodyLimit(maxBytes: number): MiddlewareHandler<HttpEnvironment> {
  const tooLarge: HttpFailure = {
    ...failure("INVALID_REQUEST", `The body is larger than ${maxBytes} bytes.`, {
      limit_bytes: maxBytes,
    }),
    httpStatus: 413,
  }
  return limitBody({ maxSize: maxBytes, onError: () => refuse(tooLarge) })
}

/** Bodies that are here at the same time, whole or on their way: of one principal, and of all. */
const mostOfOneBytes = 24 * 1024 * 1024
const mostBytes = 96 * 1024 * 1024

const tooMuch = failure(
  "RATE_LIMITED",
  "Too much data is being sent at once: wait for an answer first.",
  { retry_after: 1 },
)

/**
 * A body costs memory from its first byte on, whenever the rest may come. What one says it will be
 * is held for it, before anything is read; one that does not say may become the largest there is.
 */
export function bodyBudget(maxBodyBytes: number): MiddlewareHandler<HttpEnvironment> {
  const held = new UsageCounter()
  return async (c, next) => {
    const bytes = expectedBytes(c.req.raw.headers, maxBodyBytes)
    if (bytes === 0) return next()
    const principal = c.get("caller")?.principal ?? ""
    const own = held.of(principal)
    const isTooMuch = own + bytes > mostOfOneBytes || held.total + bytes > mostBytes
    if (isTooMuch && own > 0) return refuse(tooMuch) // one body is always let in
    using _body = held.acquire(principal, bytes)
    return await next()
  }
}

function expectedBytes(headers: Headers, maxBodyBytes: number): number {
  if (headers.has("transfer-encoding")) return maxBodyBytes
  const length = Number(headers.get("content-length") ?? 0)
  return Number.isSafeInteger(length) ? Math.min(length, maxBodyBytes) : maxBodyBytes
}
