import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Authority, type IssuedCertificate } from "./certificates.ts"
import { freePort } from "./free-port.ts"
import { Service } from "./service.ts"

const program = join(import.meta.dir, "../fixtures/fleet/main.ts")

type ListedNode = {
  name: string
  /** Of its listener for other nodes. */
  port: number
  certificate: IssuedCertificate
  service: Service
}

/**
 * Services that know each other from a list, and ask each other without an engine. What a client of
 * one starts with the label `on` runs on the node of that name.
 */
export class ListedNodes implements AsyncDisposable {
  readonly authority = new Authority("Fleet authority")
  readonly nodes: ListedNode[] = []
  readonly #executable: string | null
  #forgotten: string[] = []

  private constructor(executable: string | null) {
    this.#executable = executable
  }

  /** `executable`: compiled from the same, where memory and speed are what the test is about. */
  static async start(
    names: string[],
    flags: Record<string, string> = {},
    executable: string | null = null,
  ): Promise<ListedNodes> {
    const listed = new ListedNodes(executable)
    await Promise.all(names.map((name) => listed.#start(name, flags)))
    listed.list()
    return listed
  }

  node(name: string): ListedNode {
    const found = this.nodes.find((node) => node.name === name)
    if (found === undefined) throw new Error(`there is no node ${name}`)
    return found
  }

  forget(name: string): void {
    this.#forgotten.push(name)
    this.list()
  }

  /** Tells all of them who is there; `addresses` are where others are to look for a node. */
  list(addresses: Record<string, string> = {}): void {
    const nodes = this.nodes.map(({ name, port }) => ({
      name,
      address: addresses[name] ?? `127.0.0.1:${port}`,
    }))
    const text = JSON.stringify({ nodes, forgotten: this.#forgotten })
    for (const { service } of this.nodes) writeFileSync(join(service.stateDir, "nodes.json"), text)
  }

  /** Another service of this name, on what the first has left. */
  async again(name: string): Promise<void> {
    const node = this.node(name)
    node.service = await this.#service(node, node.service.stateDir, {})
  }

  async #start(name: string, flags: Record<string, string>): Promise<void> {
    const certificate = this.authority.issue({ subject: `/CN=${name}` })
    const identity = { name, port: freePort(), certificate }
    this.nodes.push({ ...identity, service: await this.#service(identity, undefined, flags) })
  }

  #service(
    { name, port, certificate }: Omit<ListedNode, "service">,
    stateDir: string | undefined,
    flags: Record<string, string>,
  ): Promise<Service> {
    const started =
      this.#executable === null
        ? { prefix: [process.execPath], executable: program }
        : { executable: this.#executable }
    return Service.start({
      ...started,
      ...(stateDir === undefined ? {} : { stateDir }),
      flags: {
        fleet: "nats://127.0.0.1:4222", // nobody asks it
        "node-name": name,
        advertise: `127.0.0.1:${port}`,
        "fleet-ca": this.authority.ca,
        "fleet-cert": certificate.cert,
        "fleet-key": certificate.key,
        ...flags,
      },
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(({ service }) => service[Symbol.asyncDispose]()))
    this.authority[Symbol.dispose]()
  }
}
