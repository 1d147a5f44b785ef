import type { NodeEntry } from "./entries.ts"
import type { FleetPorts } from "./fleet-ports.ts"

type OwnFacts = Pick<FleetPorts, "settings" | "signer" | "receiptKey" | "version">

/** What this node says of itself with its lease. */
export class OwnEntry {
  readonly #own: OwnFacts
  readonly #running: () => number
  #key: NodeEntry["key"] | null = null
  /** Of the listener for nodes, where the system has chosen it. */
  listeningPort: number | null = null

  constructor(own: OwnFacts, running: () => number) {
    this.#own = own
    this.#running = running
  }

  facts(): Omit<NodeEntry, "instance" | "epoch" | "beat"> {
    const { settings, signer, receiptKey, version } = this.#own
    const { advertise, labels, slots } = settings
    const host = advertise.host.includes(":") ? `[${advertise.host}]` : advertise.host
    const address = `${host}:${this.listeningPort ?? advertise.port}`
    this.#key ??= signer.vouch(receiptKey)
    return { address, labels, slots, running: this.#running(), version, key: this.#key }
  }
}
