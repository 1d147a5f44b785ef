import { createServer, type Socket } from "node:net"

export type Seen = { method: string; message: Message; headers: Headers }
type Message = { id?: number; method?: string; params?: object }

export type ScriptedTarget = Disposable & { url: string; port: number; seen: Seen[] }

/** An HTTP server that answers as the test says; `turn` counts from 1. */
export function httpTarget(
  answer: (seen: Seen, turn: number) => Response | Promise<Response>,
  port = 0,
): ScriptedTarget {
  const seen: Seen[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      const text = await request.text()
      const message: Message = text === "" ? {} : JSON.parse(text)
      const one = { method: request.method, message, headers: request.headers }
      if (request.method === "POST") seen.push(one)
      return answer(one, seen.length)
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    port: server.port ?? 0,
    seen,
    [Symbol.dispose]: () => void server.stop(true),
  }
}

/** A TCP server that says what the test says to each request: what no HTTP server would. */
export async function tcpTarget(
  answer: (socket: Socket, turn: number, text: string) => void,
): Promise<Disposable & { url: string; texts: string[] }> {
  const texts: string[] = []
  const server = createServer((socket) => {
    let text = ""
    socket.on("error", () => undefined) // it is cut on purpose
    socket.on("data", (piece) => {
      text += piece.toString()
      const [head = "", body = ""] = text.split("\r\n\r\n")
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
      if (!text.includes("\r\n\r\n") || body.length < length) return
      texts.push(body)
      text = ""
      answer(socket, texts.length, body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const address = server.address()
  const port = typeof address === "object" ? address?.port : 0
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    texts,
    [Symbol.dispose]: () => void server.close(),
  }
}

export function result(id: unknown, value: object = {}): Response {
  return Response.json({ jsonrpc: "2.0", id, result: value })
}

/** A WebSocket server that says what the test says. */
export function socketTarget(
  received: (socket: Bun.ServerWebSocket, message: Message, turn: number) => void,
): ScriptedTarget {
  const seen: Seen[] = []
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request, own) {
      const headers = { "Sec-WebSocket-Protocol": "mcp" }
      return own.upgrade(request, { data: undefined, headers })
        ? undefined
        : new Response("", { status: 426 })
    },
    websocket: {
      message(socket, text) {
        const message: Message = JSON.parse(String(text))
        seen.push({ method: "", message, headers: new Headers() })
        received(socket, message, seen.length)
      },
    },
  })
  return {
    url: `ws://127.0.0.1:${server.port}/`,
    port: server.port ?? 0,
    seen,
    [Symbol.dispose]: () => void server.stop(true),
  }
}
