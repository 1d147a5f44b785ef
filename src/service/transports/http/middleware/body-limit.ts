import type { MiddlewareHandler } from "hono"
import { bodyLimit as limitBody } from "hono/body-limit"
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
