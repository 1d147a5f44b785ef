import type { MethodName } from "../../protocol/methods.ts"

/** Gives every `execute` a key, so that sending it again after a cut starts nothing twice. */
export function withIdempotencyKey<Params>(method: MethodName, params: Params): Params {
  if (method !== "execute" || typeof params !== "object" || params === null) return params
  if ("idempotency_key" in params && params.idempotency_key !== undefined) return params
  return { ...params, idempotency_key: randomKey() }
}

// crypto.randomUUID would do, but browsers withhold it from pages that came over plain http.
function randomKey(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex()
}
