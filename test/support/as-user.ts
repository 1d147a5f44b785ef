import { existsSync } from "node:fs"
import { notRoot } from "./test-unless.ts"

/** Why nobody else can be made to knock here, or null. */
export const noOtherUsers =
  notRoot ??
  (Bun.which("setpriv") === null ? "needs the command setpriv" : null) ??
  (existsSync("/usr/bin/python3") ? null : "needs python3")

// Whatever comes first of the answer: of a refusal that is all of it.
const knock = `
import socket, sys
with socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) as s:
    s.sendall(sys.stdin.buffer.read())
    sys.stdout.buffer.write(s.recv(65536))
`

export type Knock = {
  uid: number
  path: string
  method?: string
  headers?: Record<string, string>
  body?: string
}

/** A request of another user of this machine, and the beginning of its answer. */
export async function answerTo(service: URL, request: Knock): Promise<string> {
  const { uid, path, method = "GET", headers = {}, body = "" } = request
  const host = service.hostname.replace(/^\[(.*)\]$/, "$1")
  const lines = Object.entries({ Host: service.host, ...headers }).map(([name, value]) => {
    return `${name}: ${value}`
  })
  const text = [`${method} ${path} HTTP/1.1`, ...lines, "", body].join("\r\n")
  const user = ["setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups"]
  const run = Bun.spawn([...user, "/usr/bin/python3", "-c", knock, host, service.port], {
    stdin: new TextEncoder().encode(text),
    stdout: "pipe",
    stderr: "pipe",
  })
  const [answer, complained] = await Promise.all([run.stdout.text(), run.stderr.text()])
  if ((await run.exited) !== 0) throw new Error(`could not knock: ${complained}`)
  return answer
}

export function statusIn(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0)
}

/** What a WebSocket is asked for with; with `protocol`, as MCP clients do. */
export function upgradeHeaders(protocol?: string): Record<string, string> {
  return {
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...(protocol === undefined ? {} : { "Sec-WebSocket-Protocol": protocol }),
  }
}
