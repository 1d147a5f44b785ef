import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js"
import { WebSocketClientTransport } from "@modelcontextprotocol/sdk/client/websocket.js"
import { z } from "zod"
import { executable, type Service } from "./service.ts"

export type CallOptions = {
  onprogress?: (progress: { progress: number; message?: string | undefined }) => void
  signal?: AbortSignal
  timeout?: number
}

/** An official client, whichever it is. */
export interface McpClient extends AsyncDisposable {
  listTools(): Promise<{ tools: { name: string; annotations?: unknown }[] }>
  call(name: string, args: Record<string, unknown>, options?: CallOptions): Promise<CallResult>
  listResources(
    cursor?: string,
  ): Promise<{ resources: { uri: string }[]; nextCursor?: string | undefined }>
  listTemplates(): Promise<string[]>
  read(uri: string): Promise<{ text: string; meta: Record<string, unknown> }>
  completeId(template: string, value: string): Promise<string[]>
  prompt(name: string, args: Record<string, string>): Promise<string>
  instructions(): string | undefined
}

const CallResult = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
  structuredContent: z.record(z.string(), z.any()).optional(),
})
export type CallResult = z.infer<typeof CallResult>

const Read = z.object({
  contents: z.tuple([
    z.object({ text: z.string(), _meta: z.record(z.string(), z.any()).optional() }),
  ]),
})
const Message = z.object({
  messages: z.array(z.object({ content: z.object({ text: z.string() }) })),
})

const me = { name: "cc-executor-test", version: "1.0.0" }

/** The address that MCP has over HTTP. */
export async function mcpUrl(service: Service): Promise<URL> {
  const url = new URL((await service.listening).href.replace(/^ws/, "http"))
  url.pathname = "/mcp"
  return url
}

export type ClientKind = keyof typeof connectors

const connectors = {
  "SDK v1 over WebSocket": async (service: Service) => {
    const client = new FirstClient(me)
    await client.connect(new WebSocketClientTransport(await service.listening))
    return adapted(client, (params, options) => client.callTool(params, undefined, options))
  },
  "SDK v2 over HTTP, legacy": (service: Service) => overHttp(service, "legacy"),
  "SDK v2 over HTTP, auto": (service: Service) => overHttp(service, "auto"),
  "SDK v2 over HTTP, 2026-07-28": (service: Service) => overHttp(service, { pin: "2026-07-28" }),
  "SDK v2 over stdio, legacy": (service: Service) => overStdio(service, "legacy"),
  "SDK v2 over stdio, 2026-07-28": (service: Service) => overStdio(service, { pin: "2026-07-28" }),
} as const

export const clientKinds = Object.keys(connectors).filter(
  (kind): kind is ClientKind => kind in connectors,
)

export function connectClient(kind: ClientKind, service: Service): Promise<McpClient> {
  return connectors[kind](service)
}

type Mode = "legacy" | "auto" | { pin: string }

async function overHttp(service: Service, mode: Mode): Promise<McpClient> {
  return connectOver(new StreamableHTTPClientTransport(await mcpUrl(service)), mode)
}

async function overStdio(service: Service, mode: Mode): Promise<McpClient> {
  const args = ["mcp", "--state-dir", service.stateDir]
  return connectOver(
    new StdioClientTransport({ command: executable, args, stderr: "ignore" }),
    mode,
  )
}

/** A client of SDK v2, by whatever way it is carried. */
export async function connectOver(transport: Transport, mode: Mode): Promise<McpClient> {
  const client = new Client(me, { versionNegotiation: { mode } })
  await client.connect(transport)
  return adapted(client, (params, options) => client.callTool(params, options))
}

type Params = { name: string; arguments: Record<string, unknown> }

/** What both generations of the SDK have, by the same names. */
type CommonClient = {
  listTools: McpClient["listTools"]
  listResources(params?: { cursor: string }): ReturnType<McpClient["listResources"]>
  listResourceTemplates(): Promise<{ resourceTemplates: { uriTemplate: string }[] }>
  readResource(params: { uri: string }): Promise<unknown>
  complete(params: {
    ref: { type: "ref/resource"; uri: string }
    argument: { name: string; value: string }
  }): Promise<{ completion: { values: string[] } }>
  getPrompt(params: { name: string; arguments: Record<string, string> }): Promise<unknown>
  getInstructions(): string | undefined
  close(): Promise<void>
}

type CallTool = (params: Params, options?: CallOptions) => Promise<unknown>

function adapted(client: CommonClient, callTool: CallTool): McpClient {
  return {
    listTools: () => client.listTools(),
    async call(name, args, options) {
      return CallResult.parse(await callTool({ name, arguments: args }, options))
    },
    listResources: (cursor) => client.listResources(cursor === undefined ? undefined : { cursor }),
    async listTemplates() {
      const { resourceTemplates } = await client.listResourceTemplates()
      return resourceTemplates.map(({ uriTemplate }) => uriTemplate)
    },
    async read(uri) {
      const [{ text, _meta = {} }] = Read.parse(await client.readResource({ uri })).contents
      return { text, meta: _meta }
    },
    async completeId(template, value) {
      const ref = { type: "ref/resource" as const, uri: template }
      const { completion } = await client.complete({ ref, argument: { name: "id", value } })
      return completion.values
    },
    async prompt(name, args) {
      const read = Message.parse(await client.getPrompt({ name, arguments: args }))
      return read.messages.map(({ content }) => content.text).join("\n")
    },
    instructions: () => client.getInstructions(),
    [Symbol.asyncDispose]: () => client.close(),
  }
}
