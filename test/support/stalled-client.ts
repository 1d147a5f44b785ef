import type { Socket } from "bun"

/** A client that starts an execution or attaches to one, and then never reads a byte again. */
export class StalledClient implements Disposable {
  readonly #socket: Socket

  private constructor(socket: Socket) {
    this.#socket = socket
  }

  static async attach(url: string, executionId: string): Promise<StalledClient> {
    const { hostname, port, pathname, host } = new URL(url)
    const greeted = Promise.withResolvers<void>()
    const socket = await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(_socket, bytes) {
          if (bytes.toString("latin1").includes("session_id")) greeted.resolve()
        },
      },
    })
    socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    )
    await greeted.promise
    socket.pause()
    const params = { execution_id: executionId }
    socket.write(textFrame(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "attach", params })))
    return new StalledClient(socket)
  }

  [Symbol.dispose](): void {
    this.#socket.terminate()
  }
}

/** A client's frames are masked; a mask of zeros changes nothing. */
function textFrame(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > 125) throw new Error("this is for short messages")
  return Uint8Array.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0, ...bytes])
}
