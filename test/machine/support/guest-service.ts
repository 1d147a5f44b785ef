import { Receipt, SignedReceipt } from "../../../src/execution/receipt.ts"
import { ExecutionView } from "../../../src/protocol/execution-view.ts"
import { eventually } from "./eventually.ts"
import type { Machine, Ran } from "./machine.ts"

/** A service that systemd runs in a machine, used by its command line. */
export class GuestService {
  readonly #machine: Machine
  readonly #prepared: (command: string) => string

  private constructor(machine: Machine, prepared: (command: string) => string) {
    this.#machine = machine
    this.#prepared = prepared
  }

  /** The unit for the machine, as its own user: root waits a second at most for who is not root. */
  static ofMachine(machine: Machine): GuestService {
    const surroundings = "cd / && export CC_EXECUTOR_STATE_DIR=/var/lib/cc-executor"
    const asOwner = 'cc-executor() { runuser -u cc-executor -- cc-executor "$@"; }'
    return new GuestService(machine, (command) => `${surroundings}\n${asOwner}\n${command}`)
  }

  /** The unit of a user, in a session of theirs. */
  static ofUser(machine: Machine, user: string): GuestService {
    return new GuestService(machine, (command) => asUser(user, command))
  }

  run(command: string): Promise<Ran> {
    return this.#machine.run(this.#prepared(command))
  }

  must(command: string): Promise<string> {
    return this.#machine.must(this.#prepared(command))
  }

  async answers(): Promise<boolean> {
    return (await this.run("cc-executor healthcheck")).exitCode === 0
  }

  /** Starts something in the background: its id. */
  async start(command: string, options = ""): Promise<string> {
    const quoted = `'${command.replaceAll("'", "'\\''")}'`
    return (await this.must(`cc-executor run -d ${options} -- bash -c ${quoted}`)).trim()
  }

  async inspect(id: string): Promise<ExecutionView> {
    return ExecutionView.parse(JSON.parse(await this.must(`cc-executor inspect --json ${id}`)))
  }

  async receipt(id: string): Promise<Receipt> {
    const envelope = await this.must(`cc-executor receipt --json ${id}`)
    const { payload } = SignedReceipt.parse(JSON.parse(envelope))
    return Receipt.parse(JSON.parse(Buffer.from(payload, "base64").toString("utf8")))
  }

  ended(id: string): Promise<ExecutionView> {
    return this.until(id, "it has ended", ({ state }) => state === "ended")
  }

  until(id: string, what: string, isSo: (view: ExecutionView) => boolean): Promise<ExecutionView> {
    return eventually(what, async () => {
      const view = await this.inspect(id)
      return isSo(view) ? view : null
    })
  }
}

/** As somebody who has logged in, with a session and a service manager of their own. */
export function asUser(user: string, script: string): string {
  return `su --login ${user} <<'as-user'\n${script}\nas-user`
}
