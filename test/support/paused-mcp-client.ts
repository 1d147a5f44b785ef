import type { Socket } from "bun"

const pauseMs = 40 // after up to 512 KiB

/** An MCP client on a WebSocket that reads only when it is told to, and then slowly. */
export class PausedMcpClient implements Disposable {
  readonly #socket: Socket
  readonly #answered = new Set<unknown>()
  #unread: Buffer = Buffer.alloc(0)
  #isClosed = false

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  /** Greets, and does not read anything after the greeting. */
  static async open(url: URL): Promise<PausedMcpClient> {
    const { hostname, port, pathname, host } = url
    const upgraded = Promise.withResolvers<void>()
    let client: PausedMcpClient | null = null
    const socket = await Bun.connect({
      hostname: hostname.replace(/[[\]]/g, ""),
      port: Number(port),
      socket: {
        data(_socket, bytes) {
          if (client === null) upgraded.resolve()
          else client.#take(Buffer.from(bytes))
        },
        close() {
          if (client !== null) client.#isClosed = true
        },
      },
    })
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" +
        "Sec-WebSocket-Protocol: mcp\r\n\r\n",
    )
    await upgraded.promise
    socket.pause()
    client = new PausedMcpClient(socket)
    client.#send({
      id: "greeting",
      method: "initialize",
      params: {
        protocolVersion: "2025-06-18",
        capabilities: {},
        clientInfo: { name: "cc-executor-test", version: "1.0.0" },
      },
    })
    client.#send({ method: "notifications/initialized" })
    return client
  }

  get answered(): ReadonlySet<unknown> {
    return this.#answered
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  call(id: number, name: string, args: Record<string, unknown>): void {
    this.#send({ id, method: "tools/call", params: { name, arguments: args } })
  }

  /** From now on it reads, a bit at a time. */
  read(): void {
    this.#socket.resume()
  }

  [Symbol.dispose](): void {
    this.#socket.terminate()
  }

  /** A client's frames are masked; a mask of zeros changes nothing. */
  #send(message: Record<string, unknown>): void {
    const bytes = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }))
    const length = [bytes.length >> 8, bytes.length & 255]
    this.#socket.write(Buffer.concat([Buffer.from([0x81, 0xfe, ...length, 0, 0, 0, 0]), bytes]))
  }

  #take(bytes: Buffer): void {
    this.#socket.pause()
    setTimeout(() => this.#socket.resume(), pauseMs)
    this.#unread = Buffer.concat([this.#unread, bytes])
    for (let frame = frameOf(this.#unread); frame !== null; frame = frameOf(this.#unread)) {
      this.#unread = this.#unread.subarray(frame.end)
      if (frame.isText) this.#answered.add(JSON.parse(frame.payload.toString()).id)
    }
  }
}

function frameOf(bytes: Buffer): { isText: boolean; payload: Buffer; end: number } | null {
  const first = bytes[0]
  const short = bytes[1]
  if (first === undefined || short === undefined) return null
  const start = short === 127 ? 10 : short === 126 ? 4 : 2
  if (bytes.length < start) return null
  const length =
    short === 127 ? Number(bytes.readBigUInt64BE(2)) : short === 126 ? bytes.readUInt16BE(2) : short
  const end = start + length
  if (bytes.length < end) return null
  return { isText: (first & 15) === 1, payload: bytes.subarray(start, end), end }
}
