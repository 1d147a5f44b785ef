import { z } from "zod"

const Answer = z.looseObject({ id: z.any(), result: z.any().optional(), error: z.any().optional() })

/** A client of the legacy era over HTTP that keeps its session id, and nothing else. */
export class HttpSession {
  readonly url: string
  readonly #headers: Record<string, string>
  id: string | null = null
  #lastId = 0

  constructor(url: string, headers: Record<string, string> = {}) {
    this.url = url
    this.#headers = headers
  }

  post(message: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(this.id === null ? {} : { "mcp-session-id": this.id }),
        ...this.#headers,
        ...headers,
      },
      body: typeof message === "string" ? message : JSON.stringify(message),
    })
  }

  async ask(method: string, params: object = {}): Promise<z.infer<typeof Answer>> {
    this.#lastId += 1
    const id = this.#lastId
    const response = await this.post({ jsonrpc: "2.0", id, method, params })
    this.id = response.headers.get("mcp-session-id") ?? this.id
    const text = await response.text()
    const isStream = response.headers.get("content-type") === "text/event-stream"
    const messages = isStream
      ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data)
      : [text]
    const answers = messages.map((message) => Answer.safeParse(JSON.parse(message ?? "")).data)
    const answer = answers.find((one) => one?.id === id)
    if (answer === undefined) throw new Error(`no answer to ${method}: ${response.status} ${text}`)
    return answer
  }

  async open(): Promise<void> {
    const clientInfo = { name: "test", version: "1" }
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
    await this.ask("initialize", params)
    await this.post({ jsonrpc: "2.0", method: "notifications/initialized" })
  }

  async call(name: string, args: object = {}): Promise<string> {
    const { result, error } = await this.ask("tools/call", { name, arguments: args })
    if (error !== undefined) throw new Error(error.message)
    return z.string().parse(result.content[0].text)
  }
}
