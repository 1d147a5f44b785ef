import { z } from "zod"
import { tryParseJson } from "../../lib/parse-json.ts"
import { fieldSpans, wholeSpan } from "../messages/json-spans.ts"
import { isFields, wordOf } from "../messages/message.ts"
import type { ResumeState } from "../ports.ts"

const version = 1

/** Servers and proxies limit headers, often to 8 KiB for all of them. */
export const mostSessionIdLength = 4096

/**
 * The id of a session holds all that is needed to open its connection to the target again. So no
 * bridge has to remember sessions, and a restart loses none. Nothing in it is trusted: a client
 * could send the same in an `initialize`.
 */
export function encodeSessionId(resumeState: ResumeState, random: Uint8Array): string | null {
  if (resumeState.initialize === null) return null
  const nonce = Buffer.from(random).toString("base64url")
  const whole = encoded({ ...resumeState, nonce })
  if (whole.length <= mostSessionIdLength) return whole
  const short = encoded({
    ...resumeState,
    initialize: withShortClientInfo(resumeState.initialize),
    nonce,
  })
  return short.length <= mostSessionIdLength ? short : null
}

function encoded(resumeState: ResumeState & { nonce: string }): string {
  const { initialize, targetSession, version: revision, nonce } = resumeState
  const json = JSON.stringify([version, nonce, initialize, targetSession, revision])
  return Buffer.from(json, "utf8").toString("base64url")
}

const Parts = z.tuple([
  z.literal(version),
  z.string(),
  z.string(),
  z.string().nullable(),
  z.string().nullable(),
])

/** Null for an id that no bridge has made. */
export function decodeSessionId(id: string): ResumeState | null {
  if (id.length > mostSessionIdLength || !/^[\w-]+$/.test(id)) return null
  const parts = Parts.safeParse(tryParseJson(Buffer.from(id, "base64url").toString("utf8")))
  if (!parts.success) return null
  const [, , initialize, targetSession, revision] = parts.data
  return isFields(tryParseJson(initialize))
    ? { initialize, targetSession, version: revision }
    : null
}

/** Clients may describe themselves at length, with icons. A server needs that only once. */
function withShortClientInfo(initialize: string): string {
  const params = tryParseJson(initialize)
  const client = isFields(params) ? params["clientInfo"] : null
  if (!isFields(client)) return initialize
  const clientInfo = { name: wordOf(client["name"]), version: wordOf(client["version"]) }
  // The rest stays as it was written: JSON.stringify would overflow the stack on deep nesting.
  const kept = fieldSpans(initialize, wholeSpan(initialize))
    .entries()
    .filter(([name]) => name !== "clientInfo")
    .map(([name, { start, end }]) => `${JSON.stringify(name)}:${initialize.slice(start, end)}`)
  return `{${[...kept, `"clientInfo":${JSON.stringify(clientInfo)}`].join(",")}}`
}
