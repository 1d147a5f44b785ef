import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { natsServer } from "../../scripts/nats-server.ts"
import { freePort } from "./free-port.ts"
import { until } from "./until.ts"

export const engineMissing = natsServer() === null ? "needs nats-server 2.12 or newer" : null

export type EngineOptions = {
  servers?: number
  /** Users of the fleet's account, as a configuration has them; else nobody has to sign in. */
  users?: string
  /** The lines of a `tls` block for clients. */
  tls?: string
  syncs?: boolean
}

/** Real NATS servers with JetStream, on loopback: one, or a cluster. */
export class Engine implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cc-executor-engine-"))
  readonly ports: number[]
  readonly #processes: Array<Bun.Subprocess | null> = []
  readonly #options: EngineOptions

  private constructor(options: EngineOptions) {
    this.#options = options
    const count = options.servers ?? 1
    this.ports = Array.from({ length: count }, () => freePort())
    const clusterPorts = Array.from({ length: count }, () => freePort())
    for (const [index, port] of this.ports.entries()) {
      const name = `n${index + 1}`
      mkdirSync(join(this.folder, name))
      writeFileSync(this.#config(index), this.#text(index, name, port, clusterPorts))
    }
  }

  static async start(options: EngineOptions = {}): Promise<Engine> {
    const engine = new Engine(options)
    for (const index of engine.ports.keys()) engine.startServer(index)
    await engine.ready()
    return engine
  }

  /** For `--fleet`. */
  get servers(): string {
    const scheme = this.#options.tls === undefined ? "nats" : "tls"
    return this.ports.map((port) => `${scheme}://127.0.0.1:${port}`).join(",")
  }

  startServer(index: number): void {
    const program = natsServer() ?? "nats-server"
    this.#processes[index] = Bun.spawn([program, "-c", this.#config(index)], {
      stdio: ["ignore", "ignore", "ignore"],
    })
  }

  async stopServer(index: number): Promise<void> {
    this.#processes[index]?.kill("SIGKILL")
    await this.#processes[index]?.exited
    this.#processes[index] = null
  }

  /** Until all servers that run take connections. */
  async ready(): Promise<void> {
    for (const [index, port] of this.ports.entries()) {
      if (!this.#processes[index]) continue
      await until(`nats-server ${index + 1} answers`, () => answers(port))
    }
  }

  /** What the first server has on its disk; it must not run. */
  copyTo(folder: string): void {
    cpSync(join(this.folder, "n1"), folder, { recursive: true })
  }

  restoreFrom(folder: string): void {
    rmSync(join(this.folder, "n1"), { recursive: true })
    cpSync(folder, join(this.folder, "n1"), { recursive: true })
  }

  #config(index: number): string {
    return join(this.folder, `n${index + 1}.conf`)
  }

  #text(index: number, name: string, port: number, clusterPorts: readonly number[]): string {
    const { users = "{ user: nobody, password: none }", tls, syncs = true } = this.#options
    const routes = clusterPorts.map((one) => `nats://127.0.0.1:${one}`).join(", ")
    const cluster =
      clusterPorts.length === 1
        ? ""
        : `cluster { name: fleet, listen: "127.0.0.1:${clusterPorts[index]}", routes: [${routes}] }`
    return `
server_name: ${name}
listen: "127.0.0.1:${port}"
jetstream { store_dir: "${join(this.folder, name)}"${syncs ? ", sync_interval: always" : ""} }
${cluster}
${tls === undefined ? "" : `tls { ${tls} }`}
accounts {
  SYS {
    users: [ { user: system, password: system } ]
    exports: [ { service: "$SYS.REQ.SERVER.PING.VARZ", response: stream, accounts: [FLEET] } ]
  }
  FLEET {
    jetstream: enabled
    users: [ ${users} ]
    imports: [
      { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.VARZ" }, to: "cce.engine.varz" }
    ]
  }
}
system_account: SYS
${this.#options.users === undefined ? "no_auth_user: nobody" : ""}
`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const index of this.#processes.keys()) await this.stopServer(index)
    if (existsSync(this.folder)) rmSync(this.folder, { recursive: true })
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    const told = Promise.withResolvers<boolean>()
    const socket = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data: () => told.resolve(true), close: () => told.resolve(false) },
    })
    const answered = await told.promise
    socket.end()
    return answered
  } catch {
    return false // nobody listens there yet
  }
}
