import { join } from "node:path"
import { type Client, connect } from "../../../../src/client/connect.ts"
import { Authority } from "../../../support/certificates.ts"
import { Service } from "../../../support/service.ts"
import { until } from "../../../support/until.ts"
import { WiredNetwork } from "../../../support/wired-network.ts"
import { WiredEngine } from "./wired-engine.ts"

export const nodeNames = ["a", "b", "c"] as const
export const serverNames = ["e1", "e2", "e3"] as const
export type NodeName = (typeof nodeNames)[number]

/** Three nodes and three engine servers, each on a cable of its own. */
export class WiredFleet implements AsyncDisposable {
  readonly network = new WiredNetwork([...nodeNames, ...serverNames])
  readonly authority = new Authority("Fleet authority")
  readonly engine = new WiredEngine(this.network, serverNames, this.authority)
  readonly services = new Map<NodeName, Service>()
  readonly #first: Service[] = []
  readonly #flags = new Map<NodeName, Record<string, string>>()

  static async start(lostAfter: string): Promise<WiredFleet> {
    const fleet = new WiredFleet()
    await Promise.all(nodeNames.map((name) => fleet.#begin(name, lostAfter)))
    await fleet.ready()
    return fleet
  }

  /** A client at a node's own socket: it reaches the node whatever becomes of the network. */
  client(name: NodeName): Client {
    const socket = join(this.service(name).stateDir, "gateway.sock")
    return connect({
      url: "ws://localhost/ws/mcp",
      openSocket: () => new WebSocket(`ws+unix://${socket}:/ws/mcp`),
    })
  }

  service(name: NodeName): Service {
    const service = this.services.get(name)
    if (service === undefined) throw new Error(`there is no node ${name}`)
    return service
  }

  /** As whoever keeps services running does. */
  async again(name: NodeName): Promise<void> {
    const { stateDir } = this.service(name)
    await until(`${name} starts again`, () => this.#started(name, stateDir))
  }

  async ready(): Promise<void> {
    for (const name of nodeNames) {
      const socket = join(this.service(name).stateDir, "gateway.sock")
      await until(`${name} is ready`, async () => {
        const asked = fetch("http://localhost/readyz", { unix: socket })
        return (await asked.catch(() => null))?.ok === true
      })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.services.values()].map((service) => service[Symbol.asyncDispose]()))
    for (const service of this.#first) await service[Symbol.asyncDispose]() // and its directory
    this.engine[Symbol.dispose]()
    this.authority[Symbol.dispose]()
    this.network[Symbol.dispose]()
  }

  async #begin(name: NodeName, lostAfter: string): Promise<void> {
    const { cert, key } = this.authority.issue({ subject: `/CN=${name}` })
    this.#flags.set(name, {
      host: "127.0.0.1",
      fleet: this.engine.servers,
      "fleet-lost-after": lostAfter,
      "node-name": name,
      advertise: `${this.network.address(name)}:8004`,
      "fleet-ca": this.authority.ca,
      "fleet-cert": cert,
      "fleet-key": key,
    })
    await this.#started(name, undefined)
  }

  async #started(name: NodeName, stateDir: string | undefined): Promise<boolean> {
    const service = new Service({
      flags: this.#flags.get(name) ?? {},
      prefix: this.network.prefix(name),
      ...(stateDir === undefined ? {} : { stateDir }),
    })
    const isThere = await service.listening.then(
      () => true,
      () => false,
    )
    if (isThere && stateDir === undefined) this.#first.push(service)
    if (isThere) this.services.set(name, service)
    return isThere
  }
}
