import { readFileSync } from "node:fs"
import { Kvm } from "@nats-io/kv"
import {
  type ConnectionOptions,
  connect,
  type NatsConnection,
  nkeyAuthenticator,
} from "@nats-io/transport-node"
import { z } from "zod"
import type { EngineFacts } from "../engine-port.ts"
import { NatsTable } from "./nats-table.ts"

export type EngineAccess = {
  servers: readonly string[]
  node: string
  credentials: string | null
  ca: string
  cert: string
  key: string
  unsafe: boolean
}

const requestTimeoutMs = 2000

/** A connection to NATS JetStream that comes back by itself, however long it takes. */
export class NatsEngine implements AsyncDisposable {
  readonly #connection: NatsConnection
  readonly #kvm: Kvm
  readonly #replicas: number

  private constructor(connection: NatsConnection, replicas: number) {
    this.#connection = connection
    this.#kvm = new Kvm(connection)
    this.#replicas = replicas
  }

  /** Throws while no server can be reached, or none lets this node in. */
  static async open(access: EngineAccess): Promise<NatsEngine> {
    const connection = await connect(connectionOptions(access))
    return new NatsEngine(connection, access.unsafe ? 1 : 3)
  }

  /** Makes the table where it is missing; what exists is used as it is. */
  async table<Value>(name: string, schema: z.ZodType<Value>, ttlMs = 0): Promise<NatsTable<Value>> {
    // Any replica would answer a direct get, also one that is behind.
    const options = { history: 1, replicas: this.#replicas, ttl: ttlMs, allow_direct: false }
    return new NatsTable(await this.#kvm.create(`cce_${name}`, options), schema)
  }

  /** `replicas` are those of the table that has the fewest. */
  async facts(tables: ReadonlyArray<{ replicas(): Promise<number> }>): Promise<EngineFacts> {
    const replicas = await Promise.all(tables.map((table) => table.replicas()))
    return {
      version: this.#connection.info?.version ?? "unknown",
      replicas: Math.min(...replicas),
      servers: await this.#servers(),
    }
  }

  /** Each server answers for itself. None does where the fleet's account may not ask. */
  async #servers(): Promise<EngineFacts["servers"]> {
    const servers: EngineFacts["servers"] = []
    try {
      const waiting = { maxWait: 1000, strategy: "stall", stall: 300 } as const
      for await (const message of await this.#connection.requestMany(variables, "", waiting)) {
        if (message.data.length === 0) continue // nobody is there to answer
        const read = Variables.safeParse(message.json())
        if (!read.success) continue
        const { data, server } = read.data
        const syncsAlways = data.jetstream?.config?.sync_always ?? false
        servers.push({ name: server.name, version: data.version, syncsAlways })
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error // not allowed, or not connected: nothing is known
    }
    return servers
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close()
  }
}

/** Where the account of the fleet imports what servers say of themselves: see docs/fleet.md. */
const variables = "cce.engine.varz"

const Variables = z.object({
  server: z.object({ name: z.string() }),
  data: z.object({
    version: z.string(),
    jetstream: z
      .object({ config: z.object({ sync_always: z.boolean().optional() }).optional() })
      .optional(),
  }),
})

function connectionOptions(access: EngineAccess): ConnectionOptions {
  const { servers, node, credentials, ca, cert, key } = access
  const isEncrypted = servers.some((server) => server.startsWith("tls://"))
  const seed = credentials === null ? null : seedIn(readFileSync(credentials, "utf8"))
  return {
    servers: servers.map((server) => server.replace(/^(?:nats|tls):\/\//, "")),
    name: `cc-executor ${node}`,
    // Nobody else may listen to what this node is answered: the permissions of its NKey say so.
    inboxPrefix: `_INBOX_${node}`,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 500,
    pingInterval: 2000,
    maxPingOut: 2,
    timeout: requestTimeoutMs,
    ...(isEncrypted && { tls: { caFile: ca, certFile: cert, keyFile: key } }),
    ...(seed !== null && { authenticator: nkeyAuthenticator(new TextEncoder().encode(seed)) }),
  }
}

/** As the tools of NATS write it: alone on a line, perhaps with something around it. */
function seedIn(text: string): string {
  return /\bSU[A-Z2-7]{56}\b/.exec(text)?.[0] ?? text.trim()
}
