import { connect, createServer, type Server, type Socket } from "node:net"

/**
 * Stands between two nodes, and cuts each connection after a number of bytes from the second: in
 * the middle of a message, of a handshake, wherever that is. When no numbers are left, connections
 * hold.
 */
export class TcpCutter implements Disposable {
  connections = 0
  readonly #server: Server
  readonly #open = new Set<Socket>()

  constructor(port: number, cutAfterBytes: readonly number[]) {
    const cuts = [...cutAfterBytes]
    this.#server = createServer((near) => {
      this.connections += 1
      let left = cuts.shift() ?? Number.POSITIVE_INFINITY
      const far = connect(port, "127.0.0.1")
      for (const socket of [near, far]) {
        this.#open.add(socket)
        socket.on("error", () => undefined)
        socket.on("close", () => {
          this.#open.delete(socket)
          near.destroy()
          far.destroy()
        })
      }
      far.on("data", (bytes) => {
        left -= bytes.length
        if (left < 0) near.resetAndDestroy()
      })
      near.pipe(far)
      far.pipe(near)
    })
    this.#server.listen(0, "127.0.0.1")
  }

  get address(): string {
    const bound = this.#server.address()
    if (typeof bound !== "object" || bound === null) throw new Error("it does not listen yet")
    return `127.0.0.1:${bound.port}`
  }

  [Symbol.dispose](): void {
    this.#server.close()
    for (const socket of this.#open) socket.resetAndDestroy()
  }
}
