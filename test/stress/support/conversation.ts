import { expect } from "bun:test"
import { StreamClient } from "../../support/stream-client.ts"
import { until } from "../../support/until.ts"

/** A well-behaved client that talks to its own `cat` until it is told to stop. */
export class Conversation implements AsyncDisposable {
  readonly executionId: string
  readonly #client: StreamClient
  readonly #talking: Promise<void>
  readonly #sent = new Bun.CryptoHasher("sha256")
  #rounds = 0
  #isOver = false

  private constructor(client: StreamClient, executionId: string, tookMs: (ms: number) => void) {
    this.#client = client
    this.executionId = executionId
    this.#talking = this.#talk(tookMs)
    this.#talking.catch(() => undefined) // `end` says what went wrong
  }

  static async start(url: string, tookMs: (ms: number) => void): Promise<Conversation> {
    const client = await StreamClient.connect(url)
    const { id } = await client.execute({ argv: ["/bin/cat"], stdin: "pipe" })
    return new Conversation(client, id, tookMs)
  }

  /** Closes the child's input; fails unless every byte came back as it was sent. */
  async end(): Promise<number> {
    this.#isOver = true
    await this.#talking
    await this.#client.call("input", { execution_id: this.executionId, end: true })
    const output = this.#client.output(this.executionId)
    const completed = await output.completed
    expect(output.faults).toEqual([])
    expect(output.hash("stdout")).toBe(this.#sent.digest("hex"))
    expect(completed).toMatchObject({ status: "completed", exit_code: 0 })
    return this.#rounds
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true
    await this.#talking.catch(() => undefined)
    this.#client[Symbol.dispose]()
  }

  async #talk(tookMs: (ms: number) => void): Promise<void> {
    const output = this.#client.output(this.executionId)
    let sentBytes = 0
    while (!this.#isOver) {
      const line = `line ${this.#rounds}\n`
      const startedMs = performance.now()
      sentBytes += line.length
      this.#sent.update(line)
      await this.#client.call("input", { execution_id: this.executionId, data: line })
      await until("the line comes back", () => output.bytes === sentBytes)
      tookMs(performance.now() - startedMs)
      this.#rounds += 1
    }
  }
}
