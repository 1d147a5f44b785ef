import type { FleetTrouble } from "../../../fleet/fleet-trouble.ts"
import type { Result } from "../../../lib/result.ts"
import type { Logger } from "../../../log/log.ts"
import type { FleetSettings } from "../../../protocol/fleet-settings.ts"
import type { GatewaySettings } from "../../../protocol/gateway-settings.ts"
import type { TlsRefusal } from "../listen/tls-terminator.ts"
import type { KeeperLink } from "../operations/keeper-link.ts"
import type { JournalReader, Operations, Refusals } from "../ports.ts"

/** What a node of a fleet has of itself. */
export type FleetPorts = {
  settings: GatewaySettings
  /** What may be asked of this node alone. */
  local: Operations
  link: () => KeeperLink
  journal: () => JournalReader
  log: Logger
  refusals: Refusals
  /** Somebody was turned away before it could ask for anything. */
  refused: (refusal: TlsRefusal) => void
  answered: (method: string, seconds: number) => void
  /** Text of so many characters was made and sent; buffers of so many bytes were passed on. */
  reportGarbage: (length: number) => void
  reportBuffers: (bytes: number) => void
  /** How many descriptors this process may have. */
  descriptors: number
  /** What whoever asks waits for before it is answered; null when it need not. */
  untilAdmitted: () => Promise<void> | null
}

/** A node among others: what may be asked of all of them. */
export type JoinedFleet = Disposable & {
  operations: Operations
  /** What keeps it from its part in the fleet. */
  troubles?: () => readonly FleetTrouble[]
}

/** Or why it cannot be one. */
export type JoinFleet = (
  fleet: FleetSettings,
  ports: FleetPorts,
) => Promise<Result<JoinedFleet, string>>
