import type { ProcessIdentity } from "../../src/execution/record.ts"
import { executionMarker } from "../../src/process/forest.ts"
import { signalProcess } from "../../src/process/signal-process.ts"
import { descendantsOf, identify } from "./real-processes.ts"
import { until } from "./until.ts"

/** A shell in a session of its own, as an execution's leader is; gone with all it told of. */
export class RealChild implements AsyncDisposable {
  readonly pid: number
  readonly #process: Bun.Subprocess<"ignore", "pipe", "inherit">
  readonly #told: ProcessIdentity[] = []
  #text = ""

  constructor(
    script: string,
    options: { executionId?: string; env?: Record<string, string> } = {},
  ) {
    const marker =
      options.executionId === undefined ? {} : { [executionMarker]: options.executionId }
    this.#process = Bun.spawn(["sh", "-c", script], {
      detached: true,
      env: { ...process.env, ...options.env, ...marker },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "inherit",
    })
    this.pid = this.#process.pid
    void this.#listen()
  }

  get exited(): Promise<number> {
    return this.#process.exited
  }

  get identity(): ProcessIdentity {
    return identify(this.pid)
  }

  /** The process whose pid it prints after a word. */
  async told(word: string): Promise<ProcessIdentity> {
    const pattern = new RegExp(`^${word} (\\d+)$`, "m")
    const pid = await until(`${word} in ${this.#text}`, () => pattern.exec(this.#text)?.[1])
    const identity = identify(Number(pid))
    this.#told.push(identity)
    return identity
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of descendantsOf(this.pid)) signalProcess(one, 9)
    for (const one of this.#told) signalProcess(one, 9)
    this.#process.kill("SIGKILL")
    await this.#process.exited
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const piece of this.#process.stdout) this.#text += decoder.decode(piece)
  }
}
