import { createHash } from "node:crypto"
import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { Journal, Redaction } from "../ports.ts"

type Asked = { principal: string; key: KeptKey; fingerprint: string }

/** The answer where the key was seen before, and null else: nothing is started a second time. */
export function repeatedStart(
  { principal, key, fingerprint }: Asked,
  store: Journal,
  live: (id: ExecutionId) => ExecutionRecord | undefined,
): Result<{ record: ExecutionRecord; repeated: true }, Failure> | null {
  const earlier = store.findByKey(principal, key.kept) ?? store.findByKey(principal, key.otherwise)
  if (earlier === null) return null
  if (earlier.fingerprint !== fingerprint) {
    const message = `The idempotency key ${JSON.stringify(key.told)} was used for another request.`
    return fail(failure("IDEMPOTENCY_MISMATCH", message))
  }
  if (earlier.record === null) {
    const message = `The execution with the key ${JSON.stringify(key.told)} has been removed.`
    return fail(failure("EXPIRED", message))
  }
  return ok({ record: live(earlier.record.id) ?? earlier.record, repeated: true })
}

/** What a request with a key is known by; null for one without. */
export function askedWithKey(
  principal: string,
  request: ExecuteParams,
  agent: AgentOptions | null,
  { redaction, fingerprint }: KeyPorts,
): Asked | null {
  const { idempotency_key } = request
  if (idempotency_key === undefined) return null
  const key = keptKey(idempotency_key, redaction)
  return { principal, key, fingerprint: fingerprint(request, agent) }
}

export type KeyPorts = {
  redaction: Redaction | null
  /** The same for the same request, whatever the order of its fields. */
  fingerprint: (request: ExecuteParams, agent: AgentOptions | null) => string
}

/** An idempotency key in the forms it may be kept in, and as messages tell it. */
type KeptKey = {
  /** How it is kept now: as it is, or hashed when the patterns match something in it. */
  kept: string
  /** How it was kept if the patterns were others then. */
  otherwise: string
  told: string
}

export function keptKey(key: string, redaction: Redaction | null): KeptKey {
  const hashed = `sha256:${createHash("sha256").update(key).digest("hex")}`
  const { text: told, count } = redaction?.text(key) ?? { text: key, count: 0 }
  return count === 0
    ? { kept: key, otherwise: hashed, told }
    : { kept: hashed, otherwise: key, told }
}
