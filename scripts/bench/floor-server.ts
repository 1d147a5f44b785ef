// The least a server can do: spawn, read, send. No transcript, no second process, no protocol.
const socketData: { encoding: string; command: string } = { encoding: "", command: "" }

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch(request, serving) {
    const { searchParams } = new URL(request.url)
    const data = {
      encoding: searchParams.get("encoding") ?? "utf8",
      command: searchParams.get("command") ?? "true",
    }
    return serving.upgrade(request, { data }) ? undefined : new Response(null, { status: 400 })
  },
  websocket: {
    data: socketData,
    backpressureLimit: 64 * 1024 * 1024,
    perMessageDeflate: false,
    async open(socket) {
      const { command, encoding } = socket.data
      if (encoding === "idle") return
      const child = Bun.spawn(["/bin/sh", "-c", command], { stdout: "pipe", stdin: "ignore" })
      const decoder = new TextDecoder()
      for await (const chunk of child.stdout) {
        for (let at = 0; at < chunk.length; at += 65_536) {
          const piece = chunk.subarray(at, at + 65_536)
          const data = () =>
            encoding === "base64" ? piece.toBase64() : decoder.decode(piece, { stream: true })
          const message =
            encoding === "binary"
              ? piece
              : JSON.stringify({
                  jsonrpc: "2.0",
                  method: "process.output",
                  params: { type: "stdout", data: data() },
                })
          if (socket.send(message) === -1) await drained(socket)
        }
      }
      const exit_code = await child.exited
      socket.send(JSON.stringify({ method: "process.completed", params: { exit_code } }))
    },
    /** Answers any request with nothing. */
    message(socket, text) {
      const id = /"id":(\d+)/.exec(String(text))?.[1] ?? "null"
      socket.send(`{"jsonrpc":"2.0","id":${id},"result":{}}`)
    },
    drain(socket) {
      waiting.get(socket)?.()
    },
  },
})

const waiting = new Map<object, () => void>()

function drained(socket: object): Promise<void> {
  return new Promise((resolve) => waiting.set(socket, resolve))
}

console.log(server.port)
