import { z } from "zod"
import { envelope } from "./modern-mcp.ts"
import type { Service } from "./service.ts"
import { bearing } from "./tokens.ts"
import { until } from "./until.ts"

const Heard = z.looseObject({
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.any()).optional(),
  result: z.record(z.string(), z.any()).optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.any().optional() }).optional(),
})
export type Heard = z.infer<typeof Heard>

export type McpTalkOptions = { era?: "legacy" | "modern"; token?: string }

type Sent = { id?: string | number; method: string; params?: Record<string, unknown> }

/** MCP over a WebSocket without any client: each message as it stands on the wire. */
export class McpTalk implements AsyncDisposable {
  readonly heard: Heard[] = []
  readonly #socket: WebSocket
  readonly #era: "legacy" | "modern"

  private constructor(socket: WebSocket, era: "legacy" | "modern") {
    this.#socket = socket
    this.#era = era
    socket.addEventListener("message", ({ data }) => {
      this.heard.push(Heard.parse(JSON.parse(String(data))))
    })
  }

  static async open(service: Service, options: McpTalkOptions = {}): Promise<McpTalk> {
    const { era = "legacy", token } = options
    const headers = token === undefined ? {} : bearing(token)
    const url = (await service.listening).href
    const socket = new WebSocket(url, { protocols: ["mcp"], ...headers })
    const talk = new McpTalk(socket, era)
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve)
      socket.addEventListener("close", ({ code }) => reject(new Error(`closed with ${code}`)))
    })
    if (era === "modern") return talk
    const clientInfo = { name: "cc-executor-test", version: "1.0.0" }
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo }
    await talk.ask({ id: "greeting", method: "initialize", params })
    talk.send({ method: "notifications/initialized" })
    return talk
  }

  send({ params = {}, ...message }: Sent): void {
    const _meta = { ...(this.#era === "modern" ? envelope() : {}), ...Object(params["_meta"]) }
    const sent = { jsonrpc: "2.0", ...message, params: { ...params, _meta } }
    this.#socket.send(JSON.stringify(sent))
  }

  async ask(request: Sent & { id: string | number }): Promise<Heard> {
    this.send(request)
    return this.answerTo(request.id)
  }

  answerTo(wanted: string | number): Promise<Heard> {
    return until(`an answer to ${wanted}`, () => this.heard.find(({ id }) => id === wanted))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#socket.readyState === WebSocket.CLOSED) return
    const isClosed = new Promise((resolve) => this.#socket.addEventListener("close", resolve))
    this.#socket.close()
    await isClosed
  }
}
