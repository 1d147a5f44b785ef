import type { X509Certificate } from "node:crypto"
import type { ExecutionId } from "../execution/id.ts"
import type { Log } from "../lib/log.ts"
import type { FleetSettings } from "../protocol/fleet-settings.ts"
import type { JournalReader, Operations } from "../service/gateway/ports.ts"
import type { ConnectedEngine } from "./engine-connection.ts"
import type { Mirror } from "./mirror-port.ts"
import type { FleetNode, RemoteOperations } from "./ports.ts"
import type { NodeSigner } from "./signed-statements.ts"

/** What a node needs to take its part in a fleet. */
export type FleetPorts = {
  settings: FleetSettings
  version: string
  /** Throws while it cannot be had. */
  connect: () => Promise<ConnectedEngine>
  local: Operations
  journal: () => JournalReader
  mirror: Mirror
  openRemote: (node: FleetNode) => RemoteOperations
  signer: NodeSigner
  authorities: readonly X509Certificate[]
  /** Of this service's receipts. */
  receiptKey: string
  newId: () => ExecutionId
  log: Log
  monotonicMs: () => number
  now: () => Date
}
