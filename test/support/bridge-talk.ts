import { z } from "zod"
import { ProgramTransport } from "./bridge-clients.ts"
import { executable } from "./service.ts"
import { until } from "./until.ts"

type Answer = z.infer<typeof Answer>
const Answer = z.looseObject({
  id: z.any().optional(),
  result: z.any().optional(),
  error: z.any().optional(),
  method: z.string().optional(),
  params: z.any().optional(),
})

/** A client of `cc-executor bridge` on its standard input and output, message by message. */
export class BridgeTalk implements AsyncDisposable {
  readonly transport: ProgramTransport
  #lastId = 0

  constructor(argv: readonly string[], env: Record<string, string | undefined> = process.env) {
    this.transport = new ProgramTransport([executable, "bridge", ...argv], env)
    void this.transport.start()
  }

  get answers(): Answer[] {
    return this.transport.lines.map((line) => Answer.parse(JSON.parse(line)))
  }

  send(text: string): Promise<void> {
    return this.transport.write(`${text}\n`)
  }

  async ask(method: string, params: object = {}): Promise<Answer> {
    this.#lastId += 1
    const id = this.#lastId
    await this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }))
    return until(`an answer to ${method}`, () => this.answers.find((answer) => answer.id === id))
  }

  async open(): Promise<Answer> {
    const clientInfo = { name: "test", version: "1" }
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
    const answer = await this.ask("initialize", params)
    await this.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
    return answer
  }

  call(name: string, args: object = {}): Promise<Answer> {
    return this.ask("tools/call", { name, arguments: args })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.transport[Symbol.asyncDispose]()
  }
}

export const envelope = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
}
