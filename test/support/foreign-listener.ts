import { asUser } from "./planted-state.ts"
import { until } from "./until.ts"

/**
 * Says what it is sent. As `silent` it answers nothing; as `polite` it opens the WebSocket that it
 * is asked for, and then answers nothing.
 */
const program = `
import base64, hashlib, os, re, socket, sys, threading

path, manner = sys.argv[1:]
guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

def hear(c):
    while True:
        b = c.recv(65536)
        if not b: return
        sys.stdout.buffer.write(b)
        sys.stdout.flush()
        key = re.search(rb"Sec-WebSocket-Key: (\\S+)", b)
        if manner == "polite" and key:
            accept = base64.b64encode(hashlib.sha1(key[1] + guid.encode()).digest())
            protocol = [b"Sec-WebSocket-Protocol: mcp"] if b"Protocol: mcp" in b else []
            lines = [b"HTTP/1.1 101 Switching Protocols", b"Upgrade: websocket",
                b"Connection: Upgrade", b"Sec-WebSocket-Accept: " + accept, *protocol, b"", b""]
            c.sendall(b"\\r\\n".join(lines))

s = socket.socket(socket.AF_UNIX)
s.bind(path)
os.chmod(path, 0o666)
s.listen(64)
print("ready", flush=True)
while True:
    c, _ = s.accept()
    threading.Thread(target=hear, args=(c,), daemon=True).start()
`

/** A listener of some user's at a path; ends with the scope. */
export class ForeignListener implements AsyncDisposable {
  readonly #process
  heard = ""

  constructor(path: string, uid: number, manner: "silent" | "polite") {
    const argv = [...asUser(uid), "/usr/bin/python3", "-c", program, path, manner]
    this.#process = Bun.spawn(argv, { stdin: "ignore", stdout: "pipe", stderr: "inherit" })
    void this.#collect()
  }

  async #collect(): Promise<void> {
    const decoder = new TextDecoder()
    for await (const piece of this.#process.stdout) this.heard += decoder.decode(piece)
  }

  ready(): Promise<boolean> {
    return until("it listens", () => this.heard.startsWith("ready"))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL")
    await this.#process.exited
  }
}
