import { appendFileSync } from "node:fs"
import {
  createMcpHandler,
  isLegacyRequest,
  type JSONRPCMessage,
  McpServer,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { z } from "zod"

export type ExampleOptions = {
  name?: string
  /** What the tools do is noted in this file, a line each: it outlives the server. */
  notes?: string
}

/** A small MCP server with one tool for each thing a bridge can get wrong. */
export function exampleServer({ name = "example", notes }: ExampleOptions = {}): McpServer {
  const server = new McpServer(
    { name, version: "1.0.0" },
    { capabilities: { tools: {}, logging: {}, resources: { subscribe: true } } },
  )
  const note = (text: string) => notes !== undefined && appendFileSync(notes, `${text}\n`)
  const say = (text: string) => ({ content: [{ type: "text" as const, text }] })

  server.registerTool(
    "add",
    { inputSchema: z.object({ a: z.number(), b: z.number() }) },
    ({ a, b }) => say(String(a + b)),
  )
  server.registerTool(
    "count",
    { description: "tells its progress", inputSchema: z.object({ to: z.number() }) },
    async ({ to }, { mcpReq }) => {
      const progressToken = mcpReq._meta?.progressToken
      for (let progress = 1; progress <= to; progress += 1) {
        if (progressToken === undefined) continue
        const params = { progressToken, progress, total: to }
        await mcpReq.notify({ method: "notifications/progress", params })
      }
      return say(`counted to ${to}`)
    },
  )
  server.registerTool("meta", { inputSchema: z.object({}) }, (_, { mcpReq }) =>
    say(JSON.stringify(mcpReq._meta ?? {})),
  )
  server.registerTool("ask", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    const requestedSchema = {
      type: "object" as const,
      properties: { word: { type: "string" as const } },
    }
    const answer = await mcpReq.elicitInput({ message: "which word?", requestedSchema })
    return say(JSON.stringify(answer.content ?? answer.action))
  })
  server.registerTool("hang", { inputSchema: z.object({}) }, async (_, { mcpReq }) => {
    note("hang began")
    await new Promise<void>((resolve) =>
      mcpReq.signal.addEventListener("abort", () => resolve(), { once: true }),
    )
    note("hang was cancelled")
    return say("never heard")
  })
  for (const idempotentHint of [true, false]) {
    server.registerTool(
      idempotentHint ? "die" : "die-once",
      { inputSchema: z.object({}), annotations: { idempotentHint, readOnlyHint: false } },
      () => {
        note("died")
        process.exit(1)
      },
    )
  }
  return server
}

export type ExampleEndpoint = Disposable & {
  url: string
  /** Connections, or sessions, that were opened. */
  opened: () => number
  /** Cuts every connection there is. */
  cut: () => void
}

/** The server at a WebSocket, with the subprotocol mcp. */
export function exampleOverSocket(
  options: ExampleOptions & { port?: number } = {},
): ExampleEndpoint {
  const sockets = new Set<Bun.ServerWebSocket<SocketTransport>>()
  let opened = 0
  const server = Bun.serve<SocketTransport>({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    fetch(request, own) {
      const headers = { "Sec-WebSocket-Protocol": "mcp" }
      const isUpgraded = own.upgrade(request, { data: new SocketTransport(), headers })
      return isUpgraded ? undefined : new Response("a WebSocket is here", { status: 426 })
    },
    websocket: {
      open(socket) {
        opened += 1
        sockets.add(socket)
        socket.data.socket = socket
        serveStdio(() => exampleServer(options), { transport: socket.data })
      },
      message: (socket, text) => socket.data.onmessage?.(JSON.parse(String(text))),
      close(socket) {
        sockets.delete(socket)
        socket.data.onclose?.()
      },
    },
  })
  return {
    url: `ws://127.0.0.1:${server.port}/`,
    opened: () => opened,
    cut: () => sockets.forEach((socket) => socket.terminate()),
    [Symbol.dispose]: () => void server.stop(true),
  }
}

class SocketTransport implements Transport {
  socket: Bun.ServerWebSocket<SocketTransport> | null = null
  onmessage?: (message: JSONRPCMessage) => void
  onclose?: () => void
  onerror?: (error: Error) => void

  start(): Promise<void> {
    return Promise.resolve()
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.socket?.send(JSON.stringify(message))
  }

  async close(): Promise<void> {
    this.socket?.close()
  }
}

/** The server over Streamable HTTP: sessions for the legacy era, none for the modern one. */
export function exampleOverHttp(
  options: ExampleOptions & { port?: number } = {},
): ExampleEndpoint & { forget: () => void } {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()
  const modern = createMcpHandler(() => exampleServer(options), { legacy: "reject" })
  let opened = 0
  async function legacy(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id")
    const known = id === null ? undefined : sessions.get(id)
    if (known !== undefined) return known.handleRequest(request)
    if (id !== null) return new Response("no such session", { status: 404 })
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized(session) {
        opened += 1
        sessions.set(session, transport)
      },
      onsessionclosed: (session) => void sessions.delete(session),
    })
    await exampleServer(options).connect(transport)
    return transport.handleRequest(request)
  }
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: options.port ?? 0,
    idleTimeout: 0,
    fetch: async (request) =>
      (await isLegacyRequest(request)) ? legacy(request) : modern.fetch(request),
  })
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    opened: () => opened,
    cut: () => void server.stop(true),
    forget: () => sessions.clear(),
    [Symbol.dispose]: () => void server.stop(true),
  }
}
