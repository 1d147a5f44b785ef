import { join } from "node:path"
import { type Client, connect } from "../../src/client/connect.ts"
import type { ExecutionEvent } from "../../src/client/output/execution-event.ts"
import type { RemoteExecution } from "../../src/client/remote-execution.ts"
import { Receipt } from "../../src/execution/receipt.ts"
import type { ProcessIdentity } from "../../src/execution/record.ts"
import type { ParamsOf } from "../../src/protocol/methods.ts"
import type { Completed } from "../../src/protocol/notifications.ts"
import { bytesOf, textOf } from "./following.ts"
import { identify } from "./real-processes.ts"
import type { Service } from "./service.ts"
import { until } from "./until.ts"

type ExecuteParams = ParamsOf<"execute">

/** A client of a service, gone with it. */
export async function clientOf(service: Service): Promise<Client> {
  return connect({
    url: await service.url(),
    reconnect: { firstDelayMs: 10, maxDelayMs: 100, giveUpAfterMs: 60_000 },
  })
}

/** The command that runs one of the programs in test/fixtures. */
export function fixture(name: string, ...args: string[]): { argv: string[] } {
  return { argv: ["sh", join(import.meta.dir, "../fixtures", name), ...args] }
}

export function shell(script: string): { argv: string[] } {
  return { argv: ["sh", "-c", script] }
}

/** An execution that is steered here while its output is collected as it comes. */
export class Steered {
  readonly client: Client
  readonly execution: RemoteExecution
  readonly #events: ExecutionEvent[] = []
  readonly #collected: Promise<void>

  constructor(client: Client, execution: RemoteExecution) {
    this.client = client
    this.execution = execution
    this.#collected = this.#collect()
    this.#collected.catch(() => undefined)
  }

  static async start(client: Client, params: ExecuteParams): Promise<Steered> {
    return new Steered(client, await client.execute(params))
  }

  get id(): string {
    return this.execution.id
  }

  get leader(): ProcessIdentity {
    const { pid } = this.execution
    if (pid === null) throw new Error("it has not been started")
    return identify(pid)
  }

  get events(): readonly ExecutionEvent[] {
    return this.#events
  }

  get text(): string {
    return textOf([...this.#events])
  }

  get bytes(): Uint8Array {
    return bytesOf([...this.#events])
  }

  /** Waits for a line of output; answers what its groups hold. */
  async untilLine(pattern: RegExp): Promise<string[]> {
    const lines = () => this.text.split(/\r?\n/).slice(0, -1)
    const found = await until(`a line like ${pattern} in: ${this.text}`, () =>
      lines()
        .map((line) => pattern.exec(line))
        .find((match) => match !== null),
    )
    return found.slice(1)
  }

  /** Waits until its output holds a piece of text so many times. */
  async untilCount(piece: string, count: number): Promise<void> {
    await until(`${count} times ${JSON.stringify(piece)}`, () => {
      return this.text.split(piece).length > count
    })
  }

  /** The process whose pid it prints after a word: `daemon 1234`. */
  async untilProcess(word: string): Promise<ProcessIdentity> {
    const [pid] = await this.untilLine(new RegExp(`^${word} (\\d+)$`))
    return identify(Number(pid))
  }

  /** The end, with all of the output before it collected. */
  async ended(): Promise<Completed> {
    const completed = await this.execution.ended
    await this.#collected
    return completed
  }

  status() {
    return this.client.call("status", { execution_id: this.id })
  }

  async receipt(): Promise<Receipt> {
    const signed = await this.client.call("receipt", { execution_id: this.id })
    return Receipt.parse(JSON.parse(Buffer.from(signed.payload, "base64").toString()))
  }

  async #collect(): Promise<void> {
    for await (const event of this.execution.output()) this.#events.push(event)
  }
}
