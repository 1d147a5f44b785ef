import type { Log } from "../../lib/log.ts"
import type { GatewaySettings } from "../../protocol/gateway-settings.ts"
import type { TlsRefusal } from "../../service/gateway/listen/tls-terminator.ts"
import type { Operations, Refusals } from "../../service/gateway/ports.ts"
import type { Membership, NodeIdentity } from "../ports.ts"

export type NodeListenerOptions = {
  identity: NodeIdentity
  /** Where other nodes come; port 0 for any that is free. */
  advertise: { host: string; port: number }
  members: Membership
  /** Of this node alone. */
  operations: Operations
  settings: Pick<
    GatewaySettings,
    | "access"
    | "maxMessageBytes"
    | "maxSessions"
    | "maxSessionsPerPrincipal"
    | "streamTimeoutMs"
    | "version"
  >
  log: Log
  refusals: Refusals
  refused: (refusal: TlsRefusal) => void
  answered: (method: string, seconds: number) => void
  reportGarbage: (length: number) => void
  /** How many descriptors this process may have. */
  descriptors: number
  /** What whoever asks waits for before it is answered; null when it need not. */
  untilAdmitted: () => Promise<void> | null
}
