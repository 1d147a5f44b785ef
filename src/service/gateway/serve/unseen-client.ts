import type { Failure } from "../../../protocol/failure.ts"
import type { TlsRefusal } from "../listen/tls-terminator.ts"
import type { Refusal } from "../ports.ts"

/** It was turned away before it could ask for anything. */
export function unseenClient({ address, kind, why }: TlsRefusal): Refusal {
  const { reason, told } = unseen[kind]
  const failure: Failure = { reason, message: `${told}: ${why}.` }
  return { principal: null, address, via: "tls", method: "connect", failure }
}

const unseen = {
  full: { reason: "AT_CAPACITY", told: "TLS was refused" },
  handshake: { reason: "UNAUTHORIZED", told: "TLS was refused" },
  stranger: { reason: "FORBIDDEN", told: "TLS was passed by" },
} as const
