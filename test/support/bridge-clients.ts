import type { JSONRPCMessage } from "@modelcontextprotocol/client"
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { settled } from "./manual-clock.ts"

export const eras = ["legacy", "modern"] as const
export type Era = (typeof eras)[number]

/** A client of the SDK, of one era, over any transport. */
export async function mcpClient(era: Era, transport: Transport): Promise<Client> {
  const mode = era === "legacy" ? "legacy" : { pin: "2026-07-28" }
  const client = new Client(
    { name: "test", version: "1.0.0" },
    { versionNegotiation: { mode }, capabilities: { elicitation: {} } },
  )
  client.setRequestHandler("elicitation/create", () =>
    Promise.resolve({ action: "accept" as const, content: { word: "swordfish" } }),
  )
  await client.connect(transport)
  return client
}

export function httpTransport(url: string): StreamableHTTPClientTransport {
  return new StreamableHTTPClientTransport(new URL(url))
}

/** What the text of a tool's answer says. */
export async function callTool(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  const { content } = await client.callTool({ name, arguments: args })
  const [first] = content
  return first?.type === "text" ? first.text : JSON.stringify(content)
}

/** A WebSocket with the subprotocol mcp. */
export class SocketTransport implements Transport {
  readonly #socket: WebSocket
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void

  constructor(url: string, headers: Record<string, string> = {}) {
    this.#socket = new WebSocket(url, { protocols: ["mcp"], headers })
  }

  start(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#socket.addEventListener("open", () => resolve())
    this.#socket.addEventListener("close", ({ code, reason }) => {
      reject(new Error(`closed: ${code} ${reason}`))
      this.onclose?.()
    })
    this.#socket.addEventListener("message", ({ data }) => this.onmessage?.(JSON.parse(data)))
    return promise
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#socket.send(JSON.stringify(message))
  }

  async close(): Promise<void> {
    this.#socket.close()
  }
}

/** A program with MCP on its standard input and output. */
export class ProgramTransport implements Transport, AsyncDisposable {
  readonly program: Bun.Subprocess<"pipe", "pipe", "pipe">
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void
  /** Every line it wrote. */
  readonly lines: string[] = []
  /** All it wrote to standard error. */
  said = ""

  constructor(argv: readonly string[], env: Record<string, string | undefined> = process.env) {
    this.program = Bun.spawn([...argv], { env, stdin: "pipe", stdout: "pipe", stderr: "pipe" })
    void this.#hear()
  }

  async start(): Promise<void> {
    void this.#read()
  }

  async #hear(): Promise<void> {
    for await (const piece of this.program.stderr) this.said += Buffer.from(piece).toString("utf8")
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    let rest = ""
    for await (const piece of this.program.stdout) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n")
      rest = lines.pop() ?? ""
      for (const line of lines) {
        this.lines.push(line)
        this.onmessage?.(JSON.parse(line))
        await settled() // the SDK forgets who wanted progress as soon as it sees the answer
      }
    }
    this.onclose?.()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    await this.write(`${JSON.stringify(message)}\n`)
  }

  async write(text: string): Promise<void> {
    await this.program.stdin.write(text)
    await this.program.stdin.flush()
  }

  async close(): Promise<void> {
    await this.program.stdin.end()
    await this.program.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.program.exitCode === null) this.program.kill("SIGTERM")
    await this.program.exited
  }
}
