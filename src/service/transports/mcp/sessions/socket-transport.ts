import type { JSONRPCMessage, JSONRPCRequest, Transport } from "@modelcontextprotocol/server"
import { z } from "zod"
import { canceledBy } from "./update-streams.ts"

/** What a session needs of its WebSocket. */
export interface McpSocket {
  /** As Bun has it: > 0 sent, -1 accepted but wait for drain, 0 dropped. */
  send(message: string): number
  close(code: number, reason: string): void
}

type RequestId = string | number

export type SocketTransportEvents = {
  reportGarbage: (length: number) => void
  /** A request has its answer, or does not get one any more. */
  settled: (id: RequestId) => void
}

/** Of one connection: an answer may be a megabyte, and is made whether anybody reads it or not. */
const mostAtOnce = 8

/**
 * One message a frame, one after the other: what the socket does not take waits until it has room,
 * and until then nothing is begun but what waits for executions.
 */
export class SocketTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #socket: McpSocket
  readonly #events: SocketTransportEvents
  readonly #underWay = new Set<RequestId>()
  readonly #waiting = new Map<RequestId, JSONRPCRequest>()
  readonly #handed = new Set<RequestId>()
  #lastSend: Promise<void> = Promise.resolve()
  #room: PromiseWithResolvers<void> | null = null
  #isClosed = false

  constructor(socket: McpSocket, events: SocketTransportEvents) {
    this.#socket = socket
    this.#events = events
  }

  get requestsUnderWay(): number {
    return this.#underWay.size
  }

  get isFull(): boolean {
    return this.#room !== null
  }

  isUnderWay(id: RequestId): boolean {
    return this.#underWay.has(id)
  }

  async start(): Promise<void> {
    // The socket is open by now.
  }

  /** From here on a request counts, though it may be some time until it is received. */
  begin(id: RequestId): void {
    this.#underWay.add(id)
  }

  receive(message: JSONRPCMessage): void {
    if ("method" in message && "id" in message && !mayTakeLong(message)) {
      this.#waiting.set(message.id, message)
    } else {
      const canceled = canceledBy(message)
      if (canceled !== null) this.settle(canceled) // it is not answered any more
      this.onmessage?.(message)
    }
    this.#handOver()
  }

  send(message: JSONRPCMessage): Promise<void> {
    const sent = this.#lastSend.then(() => this.#sendNext(message))
    this.#lastSend = sent.catch(() => undefined) // whoever sent it is told, and nobody after it
    return sent
  }

  write(text: string): void {
    if (this.#isClosed) return
    this.#events.reportGarbage(text.length)
    if (this.#socket.send(text) === -1) this.#room ??= Promise.withResolvers()
  }

  /** It was answered, or will not be. */
  settle(id: RequestId): void {
    this.#underWay.delete(id)
    this.#waiting.delete(id)
    this.#handed.delete(id)
    this.#events.settled(id)
  }

  drained(): void {
    const room = this.#room
    this.#room = null
    room?.resolve()
    this.#handOver()
  }

  async close(): Promise<void> {
    if (!this.#isClosed) this.#socket.close(1000, "")
    this.closed()
  }

  closed(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#waiting.clear()
    this.drained()
    this.onclose?.()
  }

  /** The text is made when there is room for it, and not at all where nobody is left to read it. */
  async #sendNext(message: JSONRPCMessage): Promise<void> {
    while (this.#room !== null) await this.#room.promise
    if (!this.#isClosed) this.write(JSON.stringify(message))
    if ("method" in message || message.id === undefined) return
    this.settle(message.id)
    this.#handOver()
  }

  #handOver(): void {
    for (const [id, request] of this.#waiting) {
      if (this.isFull || this.#handed.size >= mostAtOnce) return
      this.#waiting.delete(id)
      this.#handed.add(id)
      this.onmessage?.(request)
    }
  }
}

/** These wait for something, and have next to nothing to answer until then. */
function mayTakeLong(message: JSONRPCRequest): boolean {
  return message.method === "subscriptions/listen" || Waiting.safeParse(message).success
}

const Waiting = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ name: z.enum(["run", "wait"]) }),
})
