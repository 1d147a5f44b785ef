import { connect, createServer, type Server, type Socket } from "node:net"

type Line = { client: Socket; server: Socket; left: number }

/**
 * Stands between clients and a service at one address that stays, whatever becomes of the service.
 * It can break connections after a number of bytes, and let nothing pass in either direction.
 */
export class UnreliableNetwork implements Disposable {
  readonly #listener: Server
  readonly #lines = new Set<Line>()
  #isSilent = false
  connections = 0

  private constructor(listener: Server, serverPort: number) {
    this.#listener = listener
    listener.on("connection", (client) => this.#connect(client, serverPort))
  }

  static async before(serverPort: number): Promise<UnreliableNetwork> {
    const listener = createServer()
    const network = new UnreliableNetwork(listener, serverPort)
    await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve))
    return network
  }

  get url(): string {
    const address = this.#listener.address()
    if (address === null || typeof address === "string") throw new Error("it does not listen")
    return `ws://127.0.0.1:${address.port}/ws/mcp`
  }

  /** Each connection that is open now breaks when so much more has come from the service. */
  cutAfter(bytes: number): void {
    for (const line of this.#lines) line.left = bytes
  }

  /** Packets are lost from now on, and nobody is told. */
  goSilent(): void {
    this.#isSilent = true
    for (const { client, server } of this.#lines) {
      client.pause()
      server.pause()
    }
  }

  /** What was lost is sent again, as TCP does, or too late: the connections are reset. */
  speak(end: "go on" | "break"): void {
    this.#isSilent = false
    for (const { client, server } of this.#lines) {
      if (end === "go on" && !client.destroyed && !server.destroyed) {
        client.resume()
        server.resume()
      } else {
        client.resetAndDestroy()
        server.resetAndDestroy()
      }
    }
  }

  [Symbol.dispose](): void {
    this.#listener.close()
    for (const { client, server } of this.#lines) {
      client.destroy()
      server.destroy()
    }
  }

  #connect(client: Socket, serverPort: number): void {
    this.connections += 1
    const server = connect(serverPort, "127.0.0.1")
    const line = { client, server, left: Number.POSITIVE_INFINITY }
    this.#lines.add(line)
    client.on("data", (bytes) => this.#pass(client, server, bytes))
    server.on("data", (bytes) => this.#answer(line, bytes))
    for (const end of [client, server]) {
      end.on("error", () => undefined) // a reset is a way to close, too
      end.on("close", () => this.#closed(line))
    }
    if (this.#isSilent) client.pause()
  }

  /** That one end is gone is no news to the other while nothing passes. */
  #closed(line: Line): void {
    if (this.#isSilent) return
    this.#lines.delete(line)
    line.client.destroy()
    line.server.destroy()
  }

  #answer(line: Line, data: string | Buffer): void {
    const { client, server } = line
    const bytes = typeof data === "string" ? Buffer.from(data) : data
    if (bytes.length < line.left) {
      line.left -= bytes.length
      return this.#pass(server, client, bytes)
    }
    client.end(bytes.subarray(0, line.left))
    server.destroy()
  }

  #pass(from: Socket, to: Socket, bytes: string | Buffer): void {
    if (to.write(bytes)) return
    from.pause()
    to.once("drain", () => {
      if (!this.#isSilent) from.resume()
    })
  }
}
