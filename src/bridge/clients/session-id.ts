import { tryParseJson } from "../../lib/parse-json.ts"
import { fieldSpans, wholeSpan } from "../messages/json-spans.ts"
import { isFields, wordOf } from "../messages/message.ts"
import type { ResumeState } from "../ports.ts"

const version = 1
const nonceBytes = 16

/** Headers have bounds everywhere on the way: of all of them together, 8 KiB is usual. */
export const mostSessionIdLength = 4096

/**
 * The id of a session is the session: whoever gets it can open the connection to the target again
 * that it stands for. So no bridge needs to remember one, and a restart loses none. Nothing in it
 * is trusted: it says no more than its client could have said in an `initialize`.
 */
export function encodeSessionId(resumeState: ResumeState, random: Uint8Array): string | null {
  if (resumeState.initialize === null) return null
  const nonce = Buffer.from(random.subarray(0, nonceBytes)).toString("base64url")
  const whole = encoded({ ...resumeState, nonce })
  if (whole.length <= mostSessionIdLength) return whole
  const short = encoded({
    ...resumeState,
    initialize: withoutOrnaments(resumeState.initialize),
    nonce,
  })
  return short.length <= mostSessionIdLength ? short : null
}

function encoded(resumeState: ResumeState & { nonce: string }): string {
  const { initialize, targetSession, version: revision, nonce } = resumeState
  const json = JSON.stringify([version, nonce, initialize, targetSession, revision])
  return Buffer.from(json, "utf8").toString("base64url")
}

/** Null for what is no id of a bridge. */
export function decodeSessionId(id: string): ResumeState | null {
  if (id.length > mostSessionIdLength || !/^[\w-]+$/.test(id)) return null
  const parts = tryParseJson(Buffer.from(id, "base64url").toString("utf8"))
  if (!Array.isArray(parts) || parts.length !== 5) return null
  const values: readonly unknown[] = parts
  const [known, nonce, initialize, targetSession, revision] = values
  if (known !== version || typeof nonce !== "string" || typeof initialize !== "string") return null
  if (!isFields(tryParseJson(initialize))) return null
  const isText = (value: unknown) => value === null || typeof value === "string"
  if (!isText(targetSession) || !isText(revision)) return null
  return {
    initialize,
    targetSession: typeof targetSession === "string" ? targetSession : null,
    version: typeof revision === "string" ? revision : null,
  }
}

/** Clients may describe themselves at length, with pictures. A server needs none of it twice. */
function withoutOrnaments(initialize: string): string {
  const params = tryParseJson(initialize)
  const client = isFields(params) ? params["clientInfo"] : null
  if (!isFields(client)) return initialize
  const clientInfo = { name: wordOf(client["name"]), version: wordOf(client["version"]) }
  // What is kept is kept as it was written: to write it again, deep as it may be, takes a stack.
  const kept = fieldSpans(initialize, wholeSpan(initialize))
    .entries()
    .filter(([name]) => name !== "clientInfo")
    .map(([name, { start, end }]) => `${JSON.stringify(name)}:${initialize.slice(start, end)}`)
  return `{${[...kept, `"clientInfo":${JSON.stringify(clientInfo)}`].join(",")}}`
}
