import type { Result } from "../../lib/result.ts"
import { readMessages } from "../messages/message.ts"
import { type BridgeTarget, noResumeState } from "../ports.ts"
import { unreadableAnswer } from "../problem.ts"
import { mcpProtocol } from "../targets/reconnecting/ws-link.ts"
import {
  type ClientsSettings,
  type Listening,
  listen,
  refusalFor,
  refuse,
  type ServeOptions,
} from "./listening.ts"

type ClientData = { client: SocketClient | null }
type Socket = Bun.ServerWebSocket<ClientData>

const tryLater = 1013

/** Serves clients over WebSockets, each with a target connection of its own. */
export function serveSocketClients(settings: ClientsSettings): Result<Listening, string> {
  const { address, limits, connections, log } = settings
  const clients = new Set<SocketClient>()
  let openConnections = 0

  const serve = (options: ServeOptions) =>
    Bun.serve<ClientData>({
      ...options,
      fetch(request, server) {
        const refused = refusalFor(settings, server, request)
        if (refused !== null) return refused
        const protocols = offeredProtocols(request)
        if (protocols.length > 0 && !protocols.includes(mcpProtocol)) {
          return refuse(400, -32600, "Use the WebSocket subprotocol mcp; no other is supported.")
        }
        if (openConnections >= connections) {
          log.warn({ connections }, "client refused: too many connections")
          return refuse(503, -32000, `${connections} clients are connected, which is the limit.`)
        }
        // Bun would choose the first protocol offered, whether we speak it or not.
        const headers = protocols.length === 0 ? {} : { "Sec-WebSocket-Protocol": mcpProtocol }
        if (!server.upgrade(request, { data: { client: null }, headers })) {
          return refuse(426, -32600, "This is a WebSocket endpoint: connect with ws:// or wss://.")
        }
        openConnections += 1
        return undefined
      },
      websocket: {
        idleTimeout: 120, // a silent client answers pings: this ends those that vanished
        sendPings: true,
        perMessageDeflate: false,
        maxPayloadLength: limits.messageBytes,
        backpressureLimit: limits.bufferedBytes + limits.messageBytes,
        closeOnBackpressureLimit: true,
        open(socket) {
          const client = new SocketClient(socket, settings)
          socket.data.client = client
          clients.add(client)
        },
        async message(socket, message) {
          await socket.data.client?.received(
            typeof message === "string" ? message : message.toString("utf8"),
          )
        },
        drain(socket) {
          socket.data.client?.drained()
        },
        async close(socket, code, reason) {
          openConnections -= 1
          const { client } = socket.data
          if (client === null) return
          clients.delete(client)
          log.debug({ code, reason }, "client left")
          await client.gone()
        },
      },
    })
  return listen(address, serve, () => Promise.all(clients.values().map((client) => client.gone())))
}

function offeredProtocols(request: Request): string[] {
  const header = request.headers.get("sec-websocket-protocol")
  return header === null ? [] : header.split(",").map((protocol) => protocol.trim())
}

class SocketClient {
  readonly #socket: Socket
  readonly #settings: ClientsSettings
  readonly #target: BridgeTarget
  #heldLength = 0
  /** While the socket is full: one for all who wait. */
  #full: PromiseWithResolvers<void> | null = null

  constructor(socket: Socket, settings: ClientsSettings) {
    this.#socket = socket
    this.#settings = settings
    this.#target = settings.openTarget(({ text }) => this.#deliver(text), noResumeState)
  }

  async received(text: string): Promise<void> {
    const { limits, log } = this.#settings
    this.#heldLength += text.length
    if (this.#heldLength > limits.bufferedBytes + limits.messageBytes) {
      log.warn({ heldBytes: this.#heldLength }, "client disconnected: it sends too fast")
      this.#socket.close(tryLater, "You send messages faster than the target takes them.")
      return
    }
    for (const read of readMessages(text)) {
      if (read.ok) await this.#target.send(read.value)
      else await this.#deliver(unreadableAnswer(read.failure).text)
    }
    this.#heldLength -= text.length
  }

  async #deliver(text: string): Promise<void> {
    // Several may wait, and the first of them may fill it again.
    while (this.#full !== null) await this.#full.promise
    if (this.#socket.readyState !== WebSocket.OPEN) return
    // -1: accepted, but the socket is full until `drain`.
    if (this.#socket.send(text) === -1) this.#full = Promise.withResolvers<void>()
    await this.#full?.promise
  }

  drained(): void {
    if (this.#socket.getBufferedAmount() === 0) this.#makeRoom()
  }

  #makeRoom(): void {
    this.#full?.resolve()
    this.#full = null
  }

  async gone(): Promise<void> {
    this.#makeRoom()
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.close(1001, "The bridge ends.")
    await this.#target.close("ended")
  }
}
