import { ok, type Result } from "../../lib/result.ts"
import {
  type Message,
  type RequestMessage,
  readMessages,
  type Unreadable,
} from "../messages/message.ts"
import { unreadableAnswer } from "../problem.ts"
import { isModern, modernFault } from "./header-check.ts"
import type { LegacySession } from "./legacy-session.ts"
import { LegacySessions, type NoSession } from "./legacy-sessions.ts"
import {
  type ClientsSettings,
  type Listening,
  listen,
  refusalFor,
  refuse,
  type ServeOptions,
} from "./listening.ts"
import { ModernRequests } from "./modern-requests.ts"

const sweepMs = 5_000

/** Serves clients over Streamable HTTP, of both eras. */
export function serveHttpClients(settings: ClientsSettings): Result<Listening, string> {
  const { address, limits } = settings
  const modern = new ModernRequests(settings)
  const legacy = new LegacySessions(settings)
  const sweep = setInterval(() => {
    modern.closeIdle()
    legacy.suspendIdle()
  }, sweepMs)

  const serve = (options: ServeOptions) =>
    Bun.serve({
      ...options,
      maxRequestBodySize: limits.messageBytes,
      fetch(request, server) {
        const refused = refusalFor(settings, server, request)
        return refused ?? route(request, () => server.timeout(request, 0))
      },
    })
  const listening = listen(address, serve, () => {
    clearInterval(sweep)
    return Promise.all([modern.close(), legacy.close()])
  })
  if (!listening.ok) clearInterval(sweep)
  return listening

  async function route(request: Request, hasArrived: () => void): Promise<Response> {
    switch (request.method) {
      case "POST":
        return post(request, hasArrived)
      case "GET":
        hasArrived()
        return withSession(request, (session) => session.listen())
      case "DELETE": {
        const id = request.headers.get("mcp-session-id")
        if (id === null) return noSession()
        return (await legacy.end(id)) ? new Response(null, { status: 200 }) : unknown()
      }
      default:
        return refuse(405, -32600, "Use POST, GET or DELETE for MCP.")
    }
  }

  async function post(request: Request, hasArrived: () => void): Promise<Response> {
    const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase()
    if (type !== "application/json") {
      return refuse(415, -32600, "Send the message as application/json.")
    }
    const body = await readBody(request, limits.messageBytes)
    if (body === null) {
      const why = `The message is larger than ${limits.messageBytes} bytes (--max-message-bytes).`
      return refuse(413, -32600, why)
    }
    hasArrived() // from here on it may take hours
    const messages = allRead(readMessages(body))
    if (!messages.ok) {
      const { text } = unreadableAnswer(messages.failure)
      return new Response(text, { status: 400, headers: { "content-type": "application/json" } })
    }
    const [first] = messages.value
    const isAlone = messages.value.length === 1
    if (first !== undefined && isAlone && first.kind !== "answer") {
      if (isModern(first, request.headers)) return modernPost(first, request)
      if (first.kind === "request" && first.method === "initialize") return open(first, request)
    }
    return withSession(request, (session) => legacyPost(session, messages.value, request))
  }

  async function modernPost(
    message: Exclude<Message, { kind: "answer" }>,
    request: Request,
  ): Promise<Response> {
    if (message.kind === "notification") {
      await modern.pass(message, request.headers.get("mcp-protocol-version"))
      return accepted()
    }
    const fault = modernFault(message, request.headers)
    if (fault !== null) return refuse(400, fault.code, fault.why, message.id)
    return modern.answer(withParamHeaders(message, request), request, takesStream(request))
  }

  async function open(message: RequestMessage, request: Request): Promise<Response> {
    const created = legacy.create()
    if (!created.ok) return noSessionResponse(created.failure)
    const session = created.value
    let id: string | null = null
    let isSettled = false
    const response = await session.answer([message], {
      signal: request.signal,
      mayStream: takesStream(request),
      headers: () => {
        id = legacy.settle(session)
        isSettled = true
        return id === null ? {} : { "mcp-session-id": id }
      },
    })
    if (!isSettled) legacy.settle(session) // the client left before it was answered
    const isLost = response.ok && id === null && session.resumeState.initialize !== null
    if (!isLost) return response
    return refuse(400, -32600, "The client's `initialize` is too large for a session id.")
  }

  async function withSession(
    request: Request,
    use: (session: LegacySession) => Promise<Response>,
  ): Promise<Response> {
    const id = request.headers.get("mcp-session-id")
    if (id === null) return request.method === "GET" ? noStream() : noSession()
    const found = legacy.find(id)
    return found.ok ? use(found.value) : noSessionResponse(found.failure)
  }
}

async function legacyPost(
  session: LegacySession,
  messages: readonly Message[],
  request: Request,
): Promise<Response> {
  const requests = messages.filter((message) => message.kind === "request")
  const repeated = requests.find((message) => session.isUnderWay(message))
  if (repeated !== undefined) {
    const why = `A request with the id ${JSON.stringify(repeated.id)} is already in progress.`
    return refuse(400, -32600, why, repeated.id)
  }
  for (const message of messages) if (message.kind !== "request") await session.take(message)
  if (requests.length === 0) return accepted()
  return session.answer(requests, {
    signal: request.signal,
    mayStream: takesStream(request),
  })
}

function allRead(read: readonly Result<Message, Unreadable>[]): Result<Message[], Unreadable> {
  const messages: Message[] = []
  for (const one of read) {
    if (!one.ok) return one
    messages.push(one.value)
  }
  return ok(messages)
}

function takesStream(request: Request): boolean {
  const accept = request.headers.get("accept") ?? "*/*"
  return /text\/event-stream|text\/\*|\*\/\*/i.test(accept)
}

/** Keeps the client's `Mcp-Param-*` headers: the bridge may not know which the target wants. */
function withParamHeaders(message: RequestMessage, request: Request): RequestMessage {
  const headers = [...request.headers].filter(([name]) => name.startsWith("mcp-param-"))
  return headers.length === 0 ? message : { ...message, headers: Object.fromEntries(headers) }
}

async function readBody(request: Request, mostBytes: number): Promise<string | null> {
  const length = Number(request.headers.get("content-length") ?? 0)
  if (length > mostBytes) return null
  const bytes = await request.bytes()
  return bytes.length > mostBytes ? null : Buffer.from(bytes).toString("utf8")
}

function accepted(): Response {
  return new Response(null, { status: 202 })
}

function noSessionResponse(why: NoSession): Response {
  if (why === "unknown") return unknown()
  return refuse(503, -32000, "Too many sessions are open. Try again later.")
}

function unknown(): Response {
  return refuse(404, -32001, "Unknown session: start one with `initialize`.")
}

function noSession(): Response {
  const why = "The header Mcp-Session-Id is missing: start a session with `initialize`, or send"
  return refuse(400, -32600, `${why} each request with the envelope of revision 2026-07-28.`)
}

function noStream(): Response {
  return refuse(405, -32600, "Streams are for sessions only: send Mcp-Session-Id.")
}
