import { fail, ok, type Result } from "../../lib/result.ts"

const socketPath = "/ws/mcp"
const schemes = new Map([
  ["http:", "ws:"],
  ["https:", "wss:"],
])

/** People copy the address of the console: `http://host:8003` means the socket behind it. */
export function socketUrl(address: string): Result<string, string> {
  const url = URL.parse(address)
  if (url === null) return fail(`"${address}" is not a URL: give ws://host:port${socketPath}.`)
  const scheme = schemes.get(url.protocol)
  if (scheme === undefined) return ok(address)
  const path = url.pathname === "/" ? socketPath : url.pathname
  return ok(`${scheme}//${credentials(url)}${url.host}${path}${url.search}`)
}

function credentials(url: URL): string {
  if (url.username === "" && url.password === "") return ""
  return `${url.username}:${url.password}@`
}
