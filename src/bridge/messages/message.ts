import { parseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { elementSpans, wholeSpan } from "./json-spans.ts"

/** A JSON-RPC message: its text as received, and the parts the bridge needs. */
export type Message = RequestMessage | NotificationMessage | AnswerMessage

export type RequestMessage = {
  kind: "request"
  text: string
  id: MessageId
  /** The id as JSON, so that `1` and `"1"` differ. */
  key: string
  method: string
  params: Fields
  /** Headers that came with it over HTTP and belong to it, not to the connection. */
  headers?: Readonly<Record<string, string>>
}

export type NotificationMessage = {
  kind: "notification"
  text: string
  method: string
  params: Fields
}

export type AnswerMessage = {
  kind: "answer"
  text: string
  /** Null in an error about what could not be read. */
  key: string | null
  result: Fields | null
  error: Fields | null
}

export type MessageId = string | number
export type Fields = Readonly<Record<string, unknown>>

/** `id` is that of the invalid message, where it could be read. */
export type Unreadable = { id: MessageId | null; code: number; why: string }

const parseError = -32700
const invalidRequest = -32600

const mostInBatch = 100
const mostWordLength = 1_000

/** Reads one message, or those of a batch, which some revisions of MCP allow. */
export function readMessages(text: string): Result<Message, Unreadable>[] {
  const parsed = parseJson(text)
  if (!parsed.ok) return [unreadable(null, parseError, `The message is ${parsed.failure}.`)]
  if (!Array.isArray(parsed.value)) return [readOne(parsed.value, text)]
  const values: readonly unknown[] = parsed.value
  if (values.length === 0) return [unreadable(null, invalidRequest, "The batch is empty.")]
  if (values.length > mostInBatch) {
    const why = `The batch has ${values.length} messages; the maximum is ${mostInBatch}.`
    return [unreadable(null, invalidRequest, why)]
  }
  const spans = elementSpans(text, wholeSpan(text))
  return values.map((value, index) => {
    const span = spans[index]
    return readOne(value, span === undefined ? "" : text.slice(span.start, span.end))
  })
}

function readOne(value: unknown, text: string): Result<Message, Unreadable> {
  if (!isFields(value)) return unreadable(null, invalidRequest, "The message is not an object.")
  const { method } = value
  const id = readId(value["id"])
  if (typeof method === "string") {
    const params = isFields(value["params"]) ? value["params"] : {}
    if (!Object.hasOwn(value, "id")) return ok({ kind: "notification", text, method, params })
    if (id === null) {
      return unreadable(null, invalidRequest, "The id of a request must be a string or a number.")
    }
    return ok({ kind: "request", text, id, key: keyOf(id), method, params })
  }
  if (isFields(value["error"]) || Object.hasOwn(value, "result")) {
    const error = isFields(value["error"]) ? value["error"] : null
    const result = isFields(value["result"]) ? value["result"] : null
    return ok({ kind: "answer", text, key: id === null ? null : keyOf(id), result, error })
  }
  const why = "The message is not a JSON-RPC request, notification or response."
  return unreadable(id, invalidRequest, why)
}

function readId(value: unknown): MessageId | null {
  return typeof value === "string" || typeof value === "number" ? value : null
}

/** A value in a sentence. Strings only: a parsed object may have a `toString` that is none. */
export function wordOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, mostWordLength) : "(no text)"
}

export function keyOf(id: MessageId): string {
  return JSON.stringify(id)
}

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function unreadable(id: MessageId | null, code: number, why: string): Result<never, Unreadable> {
  return fail({ id, code, why })
}

/** JSON may contain line breaks, but lines and server-sent events end at them. */
export function onOneLine(text: string): string {
  return /[\r\n]/.test(text) ? text.replaceAll(/[\r\n]+/g, " ") : text
}

const versionKey = "io.modelcontextprotocol/protocolVersion"

/** The revision in a request's envelope; null for a request of a session. */
export function envelopeVersion({ params }: { params: Fields }): string | null {
  const meta = params["_meta"]
  const version = isFields(meta) ? meta[versionKey] : null
  return typeof version === "string" ? version : null
}

export function progressTokenOf({ params }: RequestMessage): string | null {
  const meta = params["_meta"]
  return isFields(meta) ? tokenKey(meta["progressToken"]) : null
}

/** The token of a progress notification. */
export function progressOf({ method, params }: NotificationMessage): string | null {
  return method === "notifications/progress" ? tokenKey(params["progressToken"]) : null
}

/** The key of the request that a notification cancels. */
export function canceledKey({ method, params }: NotificationMessage): string | null {
  return method === "notifications/cancelled" ? tokenKey(params["requestId"]) : null
}

function tokenKey(value: unknown): string | null {
  const id = readId(value)
  return id === null ? null : keyOf(id)
}

/** A subscription is answered only when it ends: it can always be sent again. */
export function isSubscription({ method }: RequestMessage): boolean {
  return method === "subscriptions/listen"
}

/** A notification that cancels a request. */
export function cancellation(requestId: MessageId, reason: string): NotificationMessage {
  const method = "notifications/cancelled"
  const params = { requestId, reason }
  const text = JSON.stringify({ jsonrpc: "2.0", method, params })
  return { kind: "notification", text, method, params }
}
