import { executable } from "./service.ts"

/** `cc-executor bridge` with a network address, ended when it is disposed. */
export class BridgeProcess implements AsyncDisposable {
  readonly #process: Bun.Subprocess<"ignore", "pipe", "pipe">
  readonly #listening = Promise.withResolvers<string>()
  readonly said: string[] = []

  constructor(argv: readonly string[], env: Record<string, string | undefined> = process.env) {
    this.#process = Bun.spawn([executable, "bridge", ...argv], {
      env,
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
    this.#listening.promise.catch(() => undefined)
    void this.#hear()
  }

  static async start(
    argv: readonly string[],
    env?: Record<string, string | undefined>,
  ): Promise<BridgeProcess> {
    const bridge = new BridgeProcess(argv, env)
    await bridge.listening
    return bridge
  }

  get listening(): Promise<string> {
    return this.#listening.promise
  }

  get pid(): number {
    return this.#process.pid
  }

  get exited(): Promise<number> {
    return this.#process.exited
  }

  /** What it wrote to standard output, once it has ended. */
  output(): Promise<string> {
    return this.#process.stdout.text()
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal)
  }

  async #hear(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ""
    for await (const piece of this.#process.stderr) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        this.said.push(line)
        const url = /^cc-executor: listening on (\S+)$/.exec(line)?.[1]
        if (url !== undefined) this.#listening.resolve(url)
      }
    }
    this.#listening.reject(new Error(`the bridge ended: ${this.said.join("\n")}`))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process.exitCode === null) this.#process.kill("SIGTERM")
    await this.#process.exited
  }
}
