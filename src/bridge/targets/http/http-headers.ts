import { envelopeVersion, type Message } from "../../messages/message.ts"
import { headerValue, nameIn } from "../../messages/param-headers.ts"
import type { KnownTarget } from "../known-target.ts"

/** What a session of the legacy era adds to each request. */
export type HttpSession = { id: string | null; version: string | null }

export const anyAnswer = { accept: "application/json, text/event-stream" }
export const jsonMessage = { "content-type": "application/json", ...anyAnswer }

/** The headers of a message: from its session, or from its envelope. */
export function headersOf(
  message: Message,
  session: HttpSession,
  target: KnownTarget,
): Record<string, string> {
  if (message.kind !== "request") return { ...jsonMessage, ...sessionHeaders(session) }
  const version = envelopeVersion(message)
  if (message.method === "initialize" && version === null) return jsonMessage
  if (version === null) return { ...jsonMessage, ...sessionHeaders(session), ...message.headers }
  const { method, params } = message
  const name = nameIn(method, params)
  return {
    ...jsonMessage,
    ...target.headersFor(message),
    ...message.headers,
    "mcp-protocol-version": version,
    "mcp-method": headerValue(method),
    ...(name === null ? {} : { "mcp-name": headerValue(name) }),
  }
}

export function sessionHeaders({ id, version }: HttpSession): Record<string, string> {
  return {
    ...(id === null ? {} : { "mcp-session-id": id }),
    ...(version === null ? {} : { "mcp-protocol-version": version }),
  }
}
