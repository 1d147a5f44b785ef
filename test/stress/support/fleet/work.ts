import { readFileSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import type { Client } from "../../../../src/client/connect.ts"
import { seededRandom } from "../../../support/seeded-random.ts"
import { nodeNames, type WiredFleet } from "./wired-fleet.ts"

const lines = 3_000
const expected = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("")

/** What clients do meanwhile: they start executions on all nodes, and read them at others. */
export class Work implements AsyncDisposable {
  /** What readers were given that was not the output: a gap, a duplicate, anything else. */
  readonly faults: string[] = []
  /** Read to the end of the output. */
  readWhole = 0
  started = 0
  readonly #truth: string
  readonly #clients: Client[]
  readonly #random: (below: number) => number
  readonly #readers: Promise<void>[] = []

  constructor(fleet: WiredFleet, seed: number, truth: string) {
    this.#truth = truth
    this.#clients = nodeNames.map((name) => fleet.client(name))
    this.#random = seededRandom(seed ^ 0x5eed)
  }

  async until(isOver: () => boolean): Promise<void> {
    const starts: Promise<void>[] = []
    while (!isOver()) {
      starts.push(this.#start())
      await sleep(100 + this.#random(400))
    }
    await Promise.race([Promise.all(starts), sleep(20_000)])
  }

  /** The key and the id that each child has written down when it began. */
  groundTruth(): Array<{ key: string; id: string }> {
    return readFileSync(this.#truth, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => {
        const [key = "", id = ""] = line.split(" ")
        return { key, id }
      })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
    await Promise.allSettled(this.#readers)
  }

  async #start(): Promise<void> {
    const key = crypto.randomUUID()
    const command =
      `echo "${key} $CC_EXECUTOR_EXECUTION_ID" >> ${this.#truth}; ` +
      `seq 1 ${lines / 2}; sleep 0.${this.#random(9)}; seq ${lines / 2 + 1} ${lines}`
    const node = nodeNames[this.#random(nodeNames.length)]
    const on = node === undefined || this.#random(2) === 0 ? {} : { on: { node } }
    const labels = { share: "*" }
    const request = { command, idempotency_key: key, labels, ...on }
    const asked = this.#anyClient()
    // Refusals are what chaos makes of it: what is true is in the file.
    const started = await asked.call("execute", request).catch(() => null)
    if (started === null) return
    this.started += 1
    if (this.#random(2) === 0) this.#readers.push(this.#read(started.execution_id))
  }

  async #read(id: string): Promise<void> {
    let text = ""
    try {
      const execution = await this.#anyClient().attach(id)
      for await (const event of execution.output()) {
        if (event.kind === "gap") this.faults.push(`${id}: a gap`)
        if (event.kind === "output") text += event.text ?? ""
        if (!expected.startsWith(text)) break
      }
    } catch {
      // The client was closed, or the node never came back with it: what was read still counts.
    }
    if (!expected.startsWith(text)) this.faults.push(`${id}: ${JSON.stringify(text.slice(-80))}`)
    if (text === expected) this.readWhole += 1
  }

  #anyClient(): Client {
    const client = this.#clients[this.#random(this.#clients.length)]
    if (client === undefined) throw new Error("there are no clients")
    return client
  }
}
