import {
  envelopeVersion,
  isFields,
  type NotificationMessage,
  type RequestMessage,
} from "../messages/message.ts"
import { fromHeaderValue, nameIn } from "../messages/param-headers.ts"

export type ModernFault = { code: number; why: string }

const headerMismatch = -32020
const invalidParams = -32602
const firstModern = "2026-"
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"

/** Whether a message of this request is of the modern era, by its envelope or by the header. */
export function isModern(message: RequestMessage | NotificationMessage, headers: Headers): boolean {
  if (envelopeVersion(message) !== null) return true
  const isSession = message.method === "initialize" || headers.has("mcp-session-id")
  return !isSession && (headers.get("mcp-protocol-version") ?? "") >= firstModern
}

/**
 * What is wrong with the envelope and the headers of a modern request; null when nothing is. A
 * proxy that decides by the headers must see the same as the target does in the message.
 */
export function modernFault(message: RequestMessage, headers: Headers): ModernFault | null {
  const { method, params } = message
  const version = envelopeVersion(message)
  if (version === null) return envelopeFault("its _meta names no protocol version")
  const meta = params["_meta"]
  const hasCapabilities = isFields(meta) && isFields(meta[capabilitiesKey])
  if (!hasCapabilities) return envelopeFault(`its _meta has no ${capabilitiesKey}`)
  return (
    mismatch("MCP-Protocol-Version", headers, version) ??
    mismatch("Mcp-Method", headers, method) ??
    mismatch("Mcp-Name", headers, nameIn(method, params))
  )
}

function envelopeFault(why: string): ModernFault {
  return {
    code: invalidParams,
    why: `This request uses revision 2026-07-28 or later, but ${why}.`,
  }
}

function mismatch(name: string, headers: Headers, value: string | null): ModernFault | null {
  if (value === null) return null
  const given = headers.get(name)
  if (given === null) return { code: headerMismatch, why: `The header ${name} is missing.` }
  if (fromHeaderValue(given.trim()) === value) return null
  const said = `${JSON.stringify(given)}, but the message says ${JSON.stringify(value)}`
  return { code: headerMismatch, why: `The header ${name} says ${said}.` }
}
