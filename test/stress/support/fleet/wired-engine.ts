import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { natsServer } from "../../../../scripts/nats-server.ts"
import type { Authority } from "../../../support/certificates.ts"
import type { WiredNetwork } from "../../../support/wired-network.ts"

/** Three engine servers, each in a namespace of its own, with TLS and synced writes. */
export class WiredEngine implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), "cc-executor-engine-"))
  readonly #network: WiredNetwork
  readonly #names: readonly string[]
  readonly #processes = new Map<string, Bun.Subprocess>()

  constructor(network: WiredNetwork, names: readonly string[], authority: Authority) {
    this.#network = network
    this.#names = names
    for (const name of names) {
      writeFileSync(this.#config(name), this.#text(name, authority))
      this.start(name)
    }
  }

  get servers(): string {
    return this.#names.map((name) => `tls://${this.#network.address(name)}:4222`).join(",")
  }

  start(name: string): void {
    const program = natsServer() ?? "nats-server"
    const command = [...this.#network.prefix(name), program, "-c", this.#config(name)]
    const log = Bun.file(join(this.#folder, `${name}.log`))
    this.#processes.set(name, Bun.spawn(command, { stdio: ["ignore", log, log] }))
  }

  signal(name: string, signal: NodeJS.Signals): void {
    this.#processes.get(name)?.kill(signal)
  }

  [Symbol.dispose](): void {
    for (const server of this.#processes.values()) server.kill("SIGKILL")
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #config(name: string): string {
    return join(this.#folder, `${name}.conf`)
  }

  #text(name: string, authority: Authority): string {
    const address = this.#network.address(name)
    const own = authority.issue({ subject: `/CN=${name}`, names: `IP:${address}` })
    const routes = this.#names.map((one) => `nats://${this.#network.address(one)}:6222`)
    return `
server_name: ${name}
listen: "${address}:4222"
jetstream { store_dir: "${join(this.#folder, name)}", sync_interval: always }
cluster { name: fleet, listen: "${address}:6222", routes: [${routes.join(", ")}] }
tls { cert_file: "${own.cert}", key_file: "${own.key}", ca_file: "${authority.ca}", verify: true }
accounts {
  SYS {
    users: [ { user: system, password: system } ]
    exports: [ { service: "$SYS.REQ.SERVER.PING.VARZ", response: stream, accounts: [FLEET] } ]
  }
  FLEET {
    jetstream: enabled
    users: [ { user: nobody, password: none } ]
    imports: [
      { service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.VARZ" }, to: "cce.engine.varz" }
    ]
  }
}
system_account: SYS
no_auth_user: nobody
`
  }
}
