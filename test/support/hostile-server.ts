import type { Server, ServerWebSocket } from "bun"
import { Receipt } from "../../src/execution/receipt.ts"
import { NotReady } from "../../src/protocol/health-report.ts"
import { notificationMessage, readRequest, resultMessage } from "../../src/protocol/json-rpc.ts"
import { isMethodName, methods } from "../../src/protocol/methods.ts"
import { notifications } from "../../src/protocol/notifications.ts"
import { hostile, hostileName, hostileValueOf } from "./hostile-text.ts"

/** How it turns on its clients. */
export const manners = [
  "answers",
  "answers otherwise",
  "answers in a third way",
  "refuses",
  "refuses for a reason of its own",
  "closes",
  "talks garbage",
  "lets nobody in",
  "redirects",
  "is not ready",
  "is something else",
] as const
export type Manner = (typeof manners)[number]

type Socket = ServerWebSocket

/** Speaks the protocol as far as it must, and puts a hostile text wherever one can be. */
export class HostileServer implements AsyncDisposable {
  readonly #manner: Manner
  readonly #server: Server<undefined>

  constructor(manner: Manner, unix?: string) {
    this.#manner = manner
    const common = {
      fetch: (request: Request, server: Server<undefined>) => this.#answer(request, server),
      websocket: {
        open: (socket: Socket) => this.#greet(socket),
        message: (socket: Socket, message: string | Buffer) =>
          this.#receive(socket, String(message)),
      },
    }
    this.#server =
      unix === undefined
        ? Bun.serve({ hostname: "127.0.0.1", port: 0, ...common })
        : Bun.serve({ unix, ...common })
  }

  get url(): string {
    return `ws://127.0.0.1:${this.#server.port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }

  get #variant(): number {
    return Math.max(0, manners.indexOf(this.#manner))
  }

  #answer(request: Request, server: Server<undefined>): Response | undefined {
    switch (this.#manner) {
      case "lets nobody in":
        return Response.json({ error: refusal("UNAUTHORIZED") }, { status: 401 })
      case "redirects":
        // Headers are bytes: what is left of the text in them is its C1 characters.
        return new Response(null, {
          status: 302,
          headers: { location: `http://other/\u009b2J\u009d0;t${encodeURI(hostile)}` },
        })
      case "is not ready":
        return Response.json(hostileValueOf(NotReady, 0), { status: 503 })
      case "is something else":
        return new Response(hostile, { status: 418, statusText: "\u009b2J HOSTILE" })
      default: {
        const mcp = request.headers.get("sec-websocket-protocol")
        const headers = mcp === null ? {} : { "sec-websocket-protocol": mcp }
        if (server.upgrade(request, { headers, data: undefined })) return undefined
        if (request.method === "POST") return new Response(hostile, { status: 403 })
        return Response.json(hostileValueOf(NotReady, 1), { status: 503 })
      }
    }
  }

  #greet(socket: Socket): void {
    switch (this.#manner) {
      case "closes":
        socket.close(4000, hostileName)
        return
      case "talks garbage":
        socket.send(hostile)
        return
      default:
        socket.send(notificationMessage("connected", this.#said("connected")))
    }
  }

  #receive(socket: Socket, text: string): void {
    const request = readRequest(text)
    if (!request.ok || request.value.id === undefined) return
    const { id, method } = request.value
    if (this.#manner === "refuses") {
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, error: refusal("INTERNAL") }))
      return
    }
    if (this.#manner === "refuses for a reason of its own" || !isMethodName(method)) {
      const error = {
        code: -32000,
        message: hostile,
        data: { reason: hostile, [hostile]: hostile },
      }
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, error }))
      return
    }
    socket.send(resultMessage(id, this.#result(method)))
    if (method === "attach" || method === "execute" || method === "watch") this.#tell(socket)
  }

  #result(method: keyof typeof methods): unknown {
    const result = hostileValueOf(methods[method].result, this.#variant)
    // Output is what a person asked for: that alone may be anything, and would hide the rest.
    if (method === "transcript.read") return { ...Object(result), chunks: [], ended: true }
    if (method === "receipt") return { ...Object(result), payload: this.#receipt() }
    // Another page would follow this one, and another that one.
    return method === "list" ? { ...Object(result), cursor: undefined } : result
  }

  #receipt(): string {
    return Buffer.from(JSON.stringify(hostileValueOf(Receipt, this.#variant))).toBase64()
  }

  #tell(socket: Socket): void {
    for (const name of ["process.started", "process.gap", "execution.changed"] as const) {
      socket.send(notificationMessage(name, this.#said(name)))
    }
    const last = this.#manner === "answers otherwise" ? "process.error" : "process.completed"
    socket.send(notificationMessage(last, this.#said(last)))
  }

  #said(name: keyof typeof notifications): unknown {
    return hostileValueOf(notifications[name], this.#variant)
  }
}

function refusal(reason: string): object {
  return { code: -32603, message: hostile, data: { reason, [hostile]: hostile, why: hostile } }
}
