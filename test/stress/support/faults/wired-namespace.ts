/**
 * A network of its own for a service, with a cable to this one that can be unplugged: packets are
 * lost then, in both directions, and neither side is told.
 */
export class WiredNamespace implements Disposable {
  static #made = 0

  readonly address = "10.213.7.2"
  /** Runs a command inside. */
  readonly prefix: string[]
  readonly #name: string
  readonly #inner = "cable"
  readonly #owned: DisposableStack

  constructor() {
    WiredNamespace.#made += 1
    const number = `${process.pid}-${WiredNamespace.#made}`
    const [outer, name] = [`cable${number}`.slice(0, 15), `cc-executor-${number}`]
    this.prefix = ["ip", "netns", "exec", name]
    this.#name = name
    using stack = new DisposableStack()
    ip("netns", "add", name)
    stack.defer(() => ip("netns", "delete", name))
    ip("link", "add", outer, "type", "veth", "peer", "name", this.#inner, "netns", name)
    stack.defer(() => ip("link", "delete", outer))
    ip("address", "add", "10.213.7.1/30", "dev", outer)
    ip("link", "set", outer, "up")
    ip("-n", name, "address", "add", `${this.address}/30`, "dev", this.#inner)
    ip("-n", name, "link", "set", "lo", "up")
    this.plug()
    this.#owned = stack.move()
  }

  plug(): void {
    ip("-n", this.#name, "link", "set", this.#inner, "up")
  }

  unplug(): void {
    ip("-n", this.#name, "link", "set", this.#inner, "down")
  }

  [Symbol.dispose](): void {
    this.#owned.dispose()
  }
}

/** Why no such network can be made here, or null. */
export const noNamespace = whyNot()

function ip(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["ip", ...args])
  if (exitCode !== 0) throw new Error(`ip ${args.join(" ")}: ${stderr.toString()}`)
}

function whyNot(): string | null {
  if (Bun.which("ip") === null) return "needs the command ip"
  try {
    new WiredNamespace()[Symbol.dispose]()
    return null
  } catch (error) {
    return `no network namespace can be made: ${String(error).trim()}`
  }
}
