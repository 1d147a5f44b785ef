/** Network namespaces on one bridge: from them, nothing else is reached. */
export class WiredNetwork implements Disposable {
  readonly #prefix: string
  readonly #names: string[]

  constructor(names: string[]) {
    this.#names = names
    this.#prefix = `cce${process.pid}`
    ip("netns", "add", this.#hub)
    inNamespace(this.#hub, "ip", "link", "add", "bridge", "type", "bridge")
    inNamespace(this.#hub, "ip", "link", "set", "bridge", "up")
    for (const [index, name] of names.entries()) this.#wire(name, index)
  }

  /** Turns itself into a program in the namespace. */
  prefix(name: string): string[] {
    return ["nsenter", `--net=/run/netns/${this.#namespace(name)}`]
  }

  address(name: string): string {
    return `10.77.0.${this.#names.indexOf(name) + 1}`
  }

  cut(name: string): void {
    this.#link(name, "down")
  }

  heal(name: string): void {
    this.#link(name, "up")
  }

  [Symbol.dispose](): void {
    for (const name of this.#names) Bun.spawnSync(["ip", "netns", "del", this.#namespace(name)])
    Bun.spawnSync(["ip", "netns", "del", this.#hub])
  }

  get #hub(): string {
    return `${this.#prefix}-hub`
  }

  #namespace(name: string): string {
    return `${this.#prefix}-${name}`
  }

  #wire(name: string, index: number): void {
    const own = this.#namespace(name)
    ip("netns", "add", own)
    inNamespace(this.#hub, "ip", "link", "add", `to-${name}`, "type", "veth", ...peer(own))
    inNamespace(this.#hub, "ip", "link", "set", `to-${name}`, "master", "bridge", "up")
    inNamespace(own, "ip", "addr", "add", `10.77.0.${index + 1}/24`, "dev", "port")
    for (const link of ["lo", "port"]) inNamespace(own, "ip", "link", "set", link, "up")
  }

  #link(name: string, state: "up" | "down"): void {
    inNamespace(this.#hub, "ip", "link", "set", `to-${name}`, state)
  }
}

function peer(namespace: string): string[] {
  return ["peer", "name", "port", "netns", namespace]
}

function ip(...args: string[]): void {
  run("ip", ...args)
}

function inNamespace(namespace: string, ...command: string[]): void {
  run("nsenter", `--net=/run/netns/${namespace}`, ...command)
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`)
}
