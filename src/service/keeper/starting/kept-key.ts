import { createHash } from "node:crypto"
import type { Redaction } from "../ports.ts"

/** An idempotency key in the forms it may be kept in, and as messages tell it. */
export type KeptKey = {
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
