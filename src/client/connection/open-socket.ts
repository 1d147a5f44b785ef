import { fail, ok, type Result } from "../../lib/result.ts"

/** A bearer token, or where to get one: asked again for every socket, since tokens change. */
export type TokenSource = string | (() => string | Promise<string>)

export type SocketHeaders = Readonly<Record<string, string>>

export type OpenSocket = (url: string, headers: SocketHeaders) => WebSocket | Promise<WebSocket>

export async function headersFor(token: TokenSource | undefined): Promise<SocketHeaders> {
  if (token === undefined) return {}
  const text = typeof token === "string" ? token : await token()
  // Said here and without it: the runtime's own words would show the secret, or nothing.
  if (!/^[\x21-\x7e]+$/.test(text)) {
    throw new TypeError("The token is empty, or has characters that no header can carry.")
  }
  return { authorization: `Bearer ${text}` }
}

/** The socket of whatever runtime this is. Bun's and Node's take headers where others cannot. */
export function openSocket(url: string, headers: SocketHeaders): WebSocket {
  if (Object.keys(headers).length === 0) return new WebSocket(url)
  let socket: unknown
  try {
    // The standard has a list of protocols in this place, and so have its types.
    socket = Reflect.construct(WebSocket, [url, { headers }])
  } catch (error) {
    // In a browser the object is taken for the name of a protocol, and a bad one.
    if (!(error instanceof Error) || error.name !== "SyntaxError") throw error
    throw new TypeError(
      "A browser sends no token with a WebSocket: get a ticket for it, and give `openSocket`.",
      { cause: error },
    )
  }
  if (socket instanceof WebSocket) return socket
  throw new TypeError("What is called WebSocket here makes something else.")
}

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
