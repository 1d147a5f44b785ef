import type { Socket } from "bun"

type Pipe = { server: Socket | null; early: Uint8Array[]; left: number }

/**
 * Stands between a client and a server and breaks each connection after a number of bytes from the
 * server: in the middle of a frame, of a handshake, wherever that is. When no numbers are left,
 * connections hold.
 */
export class CuttingProxy implements Disposable {
  readonly url: string
  connections = 0
  readonly #listener: Bun.TCPSocketListener<Pipe>

  constructor(serverPort: number, cutAfterBytes: number[]) {
    const cuts = [...cutAfterBytes]
    this.#listener = Bun.listen<Pipe>({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (client) => {
          this.connections += 1
          client.data = { server: null, early: [], left: cuts.shift() ?? Number.POSITIVE_INFINITY }
          dial(serverPort, client)
        },
        data: (client, bytes) => {
          const { server, early } = client.data
          if (server === null) early.push(bytes.slice())
          else server.write(bytes)
        },
        close: (client) => {
          client.data.server?.terminate()
        },
      },
    })
    this.url = `ws://127.0.0.1:${this.#listener.port}/ws/mcp`
  }

  [Symbol.dispose](): void {
    this.#listener.stop(true)
  }
}

function dial(port: number, client: Socket<Pipe>): void {
  Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      open: (server) => {
        client.data.server = server
        for (const bytes of client.data.early) server.write(bytes)
      },
      data: (_server, bytes) => forward(client, bytes),
      close: () => {
        client.terminate()
      },
    },
  }).catch(() => client.terminate())
}

// Test traffic stays far below what the kernel buffers, so writes are never partial here.
function forward(client: Socket<Pipe>, bytes: Uint8Array): void {
  const pipe = client.data
  const written = client.write(bytes.subarray(0, Math.min(bytes.length, pipe.left)))
  pipe.left -= bytes.length
  if (pipe.left <= 0) {
    client.flush()
    client.end()
    pipe.server?.terminate()
  } else if (written < bytes.length) {
    throw new Error(`the proxy could not forward ${bytes.length - written} bytes`)
  }
}
