import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import { type InputParams, maxInputBytes } from "../../../protocol/methods.ts"

export function inputBytes(params: InputParams): Result<Uint8Array<ArrayBuffer>, Failure> {
  const data = Uint8Array.from(Buffer.from(params.data, params.encoding))
  const isBase64 = params.encoding !== "base64" || isCanonicalBase64(params.data)
  if (!isBase64) return fail(failure("INVALID_PARAMS", "`data` is not base64."))
  if (data.length <= maxInputBytes) return ok(data)
  const message = `Input of ${data.length} bytes is too much for one request: send at most 1 MiB.`
  return fail(failure("INVALID_PARAMS", message))
}

function isCanonicalBase64(text: string): boolean {
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.replace(/=+$/, "").length % 4 !== 1
}
