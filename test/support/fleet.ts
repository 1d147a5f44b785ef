import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { nkeys } from "@nats-io/transport-node"
import { NatsEngine } from "../../src/fleet/engine/nats-engine.ts"
import { PlacementEntry } from "../../src/fleet/entries.ts"
import { Authority, type IssuedCertificate } from "./certificates.ts"
import { cliWith } from "./cli-of.ts"
import { Engine, type EngineOptions } from "./engine.ts"
import { freePort } from "./free-port.ts"
import { Service } from "./service.ts"
import { makeToken } from "./tokens.ts"
import { until } from "./until.ts"

type FleetNode = {
  name: string
  port: number
  certificate: IssuedCertificate
  service: Service
  flags: Record<string, string>
}

export type FleetOptions = {
  engine?: EngineOptions
  /** Settings of all nodes. */
  flags?: Record<string, string>
  /** Three servers that keep what they acknowledge, TLS to them, and a key for each node. */
  isSafe?: boolean
  /** Settings of one node, by its name. */
  of?: Record<string, Record<string, string>>
}

/** Nodes of one fleet on loopback, with a real engine. */
export class Fleet implements AsyncDisposable {
  readonly authority: Authority
  readonly keys: ReadonlyMap<string, NodeKey>
  readonly nodes: FleetNode[] = []
  readonly engine: Engine
  readonly #options: FleetOptions
  readonly #tokens = new Map<string, string>()

  private constructor(
    engine: Engine,
    options: FleetOptions,
    authority: Authority,
    keys: ReadonlyMap<string, NodeKey>,
  ) {
    this.engine = engine
    this.#options = options
    this.authority = authority
    this.keys = keys
  }

  static async start(names: string[], options: FleetOptions = {}): Promise<Fleet> {
    const authority = new Authority("Fleet authority")
    const keys = options.isSafe === true ? nodeKeys(names, authority.folder) : new Map()
    const guarded = options.isSafe === true ? guardedEngine(authority, keys) : {}
    const engine = await Engine.start({ ...guarded, ...options.engine })
    const fleet = new Fleet(engine, options, authority, keys)
    await Promise.all(names.map((name) => fleet.add(name)))
    await fleet.joined()
    return fleet
  }

  async add(name: string, env: Record<string, string> = {}): Promise<Service> {
    const certificate = this.authority.issue({ subject: `/CN=${name}`, names: `DNS:${name}` })
    const port = freePort()
    const key = this.keys.get(name)
    const flags = {
      fleet: this.engine.servers,
      "fleet-lost-after": "6s",
      "node-name": name,
      advertise: `127.0.0.1:${port}`,
      "fleet-ca": this.authority.ca,
      "fleet-cert": certificate.cert,
      "fleet-key": certificate.key,
      ...(key === undefined ? {} : { "fleet-credentials": key.seedFile }),
      ...this.#options.flags,
      ...this.#options.of?.[name],
    }
    const service = await Service.start({ flags, env: { ...this.#env, ...env } })
    this.nodes.push({ name, port, certificate, service, flags })
    return service
  }

  node(name: string): FleetNode {
    const found = this.nodes.find((node) => node.name === name)
    if (found === undefined) throw new Error(`there is no node ${name}`)
    return found
  }

  service(name: string): Service {
    return this.node(name).service
  }

  /** One replica, for there is one server. */
  get #env(): Record<string, string> {
    return { CC_EXECUTOR_FLEET_UNSAFE: String(this.#options.isSafe !== true) }
  }

  /** Runs the command line as somebody who has a token of this name at every node. */
  async as(user: string, node: string, ...args: string[]) {
    const service = this.service(node)
    const known = this.#tokens.get(`${user}@${node}`)
    const token = known ?? (await makeToken(service.stateDir, { name: user }))
    this.#tokens.set(`${user}@${node}`, token)
    return cliWith({ CC_EXECUTOR_URL: await service.url(), CC_EXECUTOR_TOKEN: token }, ...args)
  }

  /** Another service of this name, on what the first has left. */
  async again(name: string): Promise<void> {
    const node = this.node(name)
    const { stateDir } = node.service
    node.service = await Service.start({ stateDir, flags: node.flags, env: this.#env })
  }

  /** Until all nodes that run can place. */
  async joined(): Promise<void> {
    for (const { name, service } of this.nodes) {
      const url = await service.url("/readyz")
      await until(`${name} is ready`, async () => (await fetch(url)).ok)
    }
  }

  /** As the engine has them. */
  async placements(): Promise<PlacementEntry[]> {
    await using engine = await NatsEngine.open({
      servers: this.engine.servers.split(","),
      node: "test",
      credentials: null,
      ca: "",
      cert: "",
      key: "",
      unsafe: true,
    })
    const table = await engine.table("placements", PlacementEntry)
    const entries: PlacementEntry[] = []
    const told = new AbortController()
    const taken = ({ value }: { value: PlacementEntry | null }) =>
      void (value && entries.push(value))
    await table.watch(taken, () => told.abort(), told.signal)
    return entries
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(({ service }) => service[Symbol.asyncDispose]()))
    await this.engine[Symbol.asyncDispose]()
    this.authority[Symbol.dispose]()
  }
}

export type NodeKey = { publicKey: string; seedFile: string }

function nodeKeys(names: readonly string[], folder: string): Map<string, NodeKey> {
  return new Map(
    names.map((name) => {
      const pair = nkeys.createUser()
      const seedFile = join(folder, `${name}.nk`)
      writeFileSync(seedFile, `${new TextDecoder().decode(pair.getSeed())}\n`)
      return [name, { publicKey: pair.getPublicKey(), seedFile }]
    }),
  )
}

/** As docs/fleet.md says it: a node may write its own lease and records, and may place. */
function guardedEngine(authority: Authority, keys: ReadonlyMap<string, NodeKey>): EngineOptions {
  const { cert, key } = authority.issue({ subject: "/CN=nats" })
  const users = [...keys].map(
    ([name, { publicKey }]) => `{ nkey: ${publicKey}, permissions: {
      publish: [
        "$KV.cce_nodes.${name}", "$KV.cce_records.${name}.>", "$KV.cce_orders.>",
        "$KV.cce_placements.>", "$KV.cce_keys.>", "$JS.FC.>", "cce.engine.varz", "$JS.API.INFO",
        "$JS.API.STREAM.INFO.*", "$JS.API.STREAM.CREATE.*", "$JS.API.STREAM.MSG.GET.*",
        "$JS.API.CONSUMER.*.>"
      ]
      subscribe: ["_INBOX_${name}.>"]
    } }`,
  )
  return {
    servers: 3,
    users: users.join("\n"),
    tls: `cert_file: "${cert}", key_file: "${key}", ca_file: "${authority.ca}", verify: true`,
  }
}
