import { connect, type Socket } from "node:net"
import { until } from "./until.ts"

/** A connection on which a test writes bytes of its own choice, beneath HTTP and WebSocket. */
export class TcpTalk implements Disposable {
  readonly #socket: Socket
  readonly #closed = Promise.withResolvers<void>()
  #heard = ""

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on("data", (bytes) => {
      this.#heard += bytes.toString("latin1")
    })
    socket.on("error", () => undefined) // a reset is a way to close, too
    socket.on("close", () => this.#closed.resolve())
  }

  static async connect(url: string): Promise<TcpTalk> {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname.replaceAll(/[[\]]/g, ""))
    await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject))
    return new TcpTalk(socket)
  }

  get localPort(): number {
    return this.#socket.localPort ?? 0
  }

  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Everything the other side has said, one character for a byte. */
  get heard(): string {
    return this.#heard
  }

  write(bytes: string | Uint8Array): void {
    this.#socket.write(bytes)
  }

  /** From now on nothing is read: the other side's buffers fill. */
  goDeaf(): void {
    this.#socket.pause()
  }

  /** Asks for a WebSocket; answers with the head of the response. */
  async upgrade(url: string, headers: Record<string, string> = {}): Promise<string> {
    const { host, pathname } = new URL(url)
    const all = {
      Host: host,
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      ...headers,
    }
    return this.ask(`GET ${pathname}`, all)
  }

  /** Sends a request without a body; answers with the head of the response. */
  async ask(request: string, headers: Record<string, string>): Promise<string> {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
    this.write(`${request} HTTP/1.1\r\n${lines.join("")}\r\n`)
    const end = await until("the head of a response", () => {
      const at = this.heard.indexOf("\r\n\r\n")
      return at >= 0 ? at : null
    })
    return this.heard.slice(0, end)
  }

  [Symbol.dispose](): void {
    this.#socket.destroy()
  }
}

/** The status of an answer to a request whose headers no well-behaved client would send. */
export async function statusOf(
  url: string,
  kind: "upgrade" | "get",
  headers: Record<string, string>,
): Promise<number> {
  using talk = await TcpTalk.connect(url)
  const { host, pathname } = new URL(url)
  const head =
    kind === "upgrade"
      ? await talk.upgrade(url, headers)
      : await talk.ask(`GET ${pathname}`, { Host: host, ...headers })
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1])
}

export const textOpcode = 1

/** A client's WebSocket frame; its mask of zeros leaves the payload as it is. */
export function clientFrame(opcode: number, payload: string | Uint8Array): Uint8Array {
  const body = Buffer.from(payload)
  const head = Buffer.alloc(14)
  head.writeUInt8(0x80 | opcode)
  head.writeUInt8(0x80 | 127, 1)
  head.writeBigUInt64BE(BigInt(body.length), 2)
  return Buffer.concat([head, body])
}
