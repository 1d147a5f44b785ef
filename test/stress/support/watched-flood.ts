import { expect } from "bun:test"
import type { ParamsOf } from "../../../src/protocol/methods.ts"
import type { Completed } from "../../../src/protocol/notifications.ts"
import type { ReceivedOutput } from "../../support/received-output.ts"
import { StreamClient } from "../../support/stream-client.ts"

const watchers = ["fast", "slow", "stalled"] as const
type Watcher = (typeof watchers)[number]

/** An endless execution that a fast, a slow and a stalled client watch, each on its own socket. */
export class WatchedFlood implements Disposable {
  readonly id: string
  readonly #clients: Record<Watcher, StreamClient>
  #slowly: NodeJS.Timeout

  private constructor(id: string, clients: Record<Watcher, StreamClient>) {
    this.id = id
    this.#clients = clients
    // It reads what is under way four times a second, and then nothing for the rest of it.
    this.output("slow").onChunk = () => clients.slow.stall()
    this.#slowly = setInterval(() => clients.slow.goOn(), 250)
  }

  static async start(url: string, params: ParamsOf<"execute">): Promise<WatchedFlood> {
    const fast = await StreamClient.connect(url)
    const slow = await StreamClient.connect(url)
    const stalled = await StreamClient.connect(url)
    const { id } = await fast.execute(params)
    const flood = new WatchedFlood(id, { fast, slow, stalled })
    // In base64 every chunk tells its exact position, which the client checks.
    await slow.attach({ execution_id: id, encoding: "base64" })
    await stalled.attach({ execution_id: id, encoding: "base64" })
    stalled.stall()
    return flood
  }

  output(watcher: Watcher): ReceivedOutput {
    return this.#clients[watcher].output(this.id)
  }

  /** Cancels it; all of its clients then take the rest, as fast as they can. */
  async cancel(): Promise<Completed> {
    const control = { type: "CANCEL", execution_id: this.id } as const
    expect(await this.#clients.fast.call("control", control)).toMatchObject({ survivors: [] })
    clearInterval(this.#slowly)
    this.output("slow").onChunk = () => undefined
    for (const client of Object.values(this.#clients)) client.goOn()
    const [completed] = await Promise.all(watchers.map((one) => this.output(one).completed))
    if (completed === undefined) throw new Error("nobody was told the end")
    return completed
  }

  /** Nothing is missing that was not told: received and gaps make up all that was written. */
  expectAllAccounted(completed: Completed): void {
    for (const watcher of watchers) {
      const { bytes, lines, gaps, faults } = this.output(watcher)
      const told = { watcher, bytes: bytes + gaps.bytes, lines: lines + gaps.lines, faults }
      const { stdout, stderr } = completed.bytes
      const written = stdout + stderr
      const writtenLines = completed.lines.stdout + completed.lines.stderr
      expect(told).toEqual({ watcher, bytes: written, lines: writtenLines, faults: [] })
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#slowly)
    for (const client of Object.values(this.#clients)) client.cut()
  }
}
