import { STATUS_CODES } from "node:http"
import { errnoOf } from "../../../lib/errno.ts"
import { type Message, readMessages, wordOf } from "../../messages/message.ts"
import type { TargetContext } from "../target-context.ts"
import { EventReader } from "./event-reader.ts"

/** How a request to the target over HTTP went. */
export type Outcome =
  /** The answer has come. */
  | { kind: "answered" }
  /** Accepted without an answer. */
  | { kind: "accepted" }
  /** There was no connection. */
  | { kind: "unsent"; why: string }
  /** 502, 503, 504. */
  | { kind: "busy"; status: number; why: string; retryAfterMs: number | null }
  /** The connection was lost before any byte of an answer. */
  | { kind: "cut"; why: string }
  /** The connection was lost inside the answer. With an event's id it can be resumed. */
  | { kind: "broken"; why: string; lastEventId: string | null; retryMs: number | null }
  | { kind: "refused"; status: number; why: string }
  /** The answer is not MCP. */
  | { kind: "unreadable"; why: string }

export type HttpEndpoint = {
  url: string
  tls: { ca?: string; cert?: string; key?: string; rejectUnauthorized?: true }
  /** Read again for every request: the token file may have changed. */
  authorization: () => Record<string, string>
}

export type HttpContext = TargetContext & { http: HttpEndpoint }

export type Exchange = {
  method: "POST" | "GET" | "DELETE"
  headers: Record<string, string>
  body?: string
  signal: AbortSignal
  /** On a new connection: one that was used before may be dead already. */
  isFresh?: boolean
  /** The headers of an answer with a status of success. */
  onHeaders?: (headers: Headers) => void
  /** True when the message is the answer that is waited for. */
  onMessage: (message: Message) => Promise<boolean>
}

const busyStatuses = [502, 503, 504]

/** One request to the target; what comes back is passed on message by message. */
export async function exchange(context: HttpContext, sent: Exchange): Promise<Outcome> {
  const { url, tls, authorization } = context.http
  const headers = { ...sent.headers, ...authorization() }
  let response: Response
  try {
    response = await fetch(url, {
      method: sent.method,
      headers,
      body: sent.body ?? null,
      signal: sent.signal,
      tls,
      redirect: "manual", // the token is for this target, and no other
      keepalive: sent.isFresh !== true,
      timeout: false, // an answer may take hours; a client that does not want to wait cancels
    })
  } catch (error) {
    return unanswered(error)
  }
  const { status } = response
  if (busyStatuses.includes(status)) {
    await drop(response)
    const why = `${status} ${STATUS_CODES[status]}`
    return { kind: "busy", status, why, retryAfterMs: retryAfter(response) }
  }
  try {
    if (response.ok) sent.onHeaders?.(response.headers)
    return await (response.ok ? readAnswer : readRefusal)(response, context, sent)
  } finally {
    await drop(response)
  }
}

const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ETIMEDOUT",
])

function unanswered(error: unknown): Outcome {
  const errno = errnoOf(error)
  if (errno === null && !(error instanceof Error)) throw error
  const why = errno ?? String(error)
  if (errno !== null && neverSent.has(errno)) return { kind: "unsent", why }
  if (errno === "ECONNRESET" || errno === "EPIPE") {
    return { kind: "cut", why: `the connection was closed (${errno})` }
  }
  return { kind: "refused", status: 0, why }
}

async function readAnswer(
  response: Response,
  context: HttpContext,
  sent: Exchange,
): Promise<Outcome> {
  const { messageBytes } = context.limits
  const type = (response.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase()
  if (type === "text/event-stream") return readEvents(response, context, sent)
  if (response.status === 202 || response.status === 204) return { kind: "accepted" }
  const body = await readBody(response, messageBytes)
  if (body.kind === "text" && body.text.trim() === "") return { kind: "accepted" }
  if (type !== "application/json") {
    return { kind: "unreadable", why: `it answered with ${type === "" ? "no type" : type}` }
  }
  if (body.kind !== "text") return body
  return (await passOn(body.text, context, sent))
    ? { kind: "answered" }
    : { kind: "unreadable", why: "its answer does not belong to this request" }
}

/** Whether the answer was among the messages. */
async function passOn(
  text: string,
  { log, target }: HttpContext,
  { onMessage }: Exchange,
): Promise<boolean> {
  let hasAnswer = false
  for (const read of readMessages(text)) {
    if (read.ok) hasAnswer = (await onMessage(read.value)) || hasAnswer
    else log.warn({ target: target.name, why: read.failure.why }, "target sent an invalid message")
  }
  return hasAnswer
}

async function readEvents(
  response: Response,
  context: HttpContext,
  sent: Exchange,
): Promise<Outcome> {
  const { messageBytes } = context.limits
  const reader = new EventReader(messageBytes)
  let lastEventId: string | null = null
  let retryMs: number | null = null
  const broken = (why: string): Outcome => ({ kind: "broken", why, lastEventId, retryMs })
  try {
    for await (const chunk of bodyOf(response)) {
      const came = reader.take(chunk)
      if (came === null) return tooLarge(messageBytes)
      for (const event of came) {
        lastEventId = event.id ?? lastEventId
        retryMs = event.retryMs ?? retryMs
        if (event.data !== "" && (await passOn(event.data, context, sent)))
          return { kind: "answered" }
      }
    }
  } catch (error) {
    return broken(closedWhy(error))
  }
  return broken(
    reader.isInside
      ? "the event stream ended in the middle of an event"
      : "the event stream ended without an answer",
  )
}

async function readRefusal(
  response: Response,
  { limits }: HttpContext,
  { onMessage }: Exchange,
): Promise<Outcome> {
  const { status } = response
  const body = await readBody(response, Math.min(limits.messageBytes, mostRefusalBytes))
  const text = body.kind === "text" ? body.text : ""
  for (const read of readMessages(text)) {
    if (!read.ok || read.value.kind !== "answer" || read.value.error === null) continue
    if (await onMessage(read.value)) return { kind: "answered" }
    const words = wordOf(read.value.error["message"])
    return { kind: "refused", status, why: `${status}: ${words}` }
  }
  const words = text.trim().split("\n", 1)[0]?.slice(0, mostWords) ?? ""
  return { kind: "refused", status, why: words === "" ? `${status}` : `${status}: ${words}` }
}

const mostRefusalBytes = 64 * 1024
const mostWords = 300

type Body = { kind: "text"; text: string } | Extract<Outcome, { kind: "broken" | "unreadable" }>

async function readBody(response: Response, mostBytes: number): Promise<Body> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const chunk of bodyOf(response)) {
      bytes += chunk.length
      if (bytes > mostBytes) return tooLarge(mostBytes)
      pieces.push(chunk)
    }
  } catch (error) {
    return { kind: "broken", why: closedWhy(error), lastEventId: null, retryMs: null }
  }
  return { kind: "text", text: Buffer.concat(pieces, bytes).toString("utf8") }
}

function closedWhy(error: unknown): string {
  if (!(error instanceof Error)) throw error
  return `the connection was closed (${errnoOf(error) ?? error.name})`
}

function tooLarge(mostBytes: number): Extract<Outcome, { kind: "unreadable" }> {
  return { kind: "unreadable", why: `it sent a message of more than ${mostBytes} bytes` }
}

/** Bun's types do not say that a body consists of bytes. */
function bodyOf(response: Response): ReadableStream<Uint8Array> {
  return response.body ?? new Blob([]).stream()
}

/** Nobody reads the rest. Canceling a broken body fails, which is known by then. */
async function drop({ body }: Response): Promise<void> {
  if (body !== null && !body.locked) await body.cancel().catch(() => undefined)
}

const longestWaitS = 60

function retryAfter(response: Response): number | null {
  const text = response.headers.get("retry-after") ?? ""
  return /^\d{1,5}$/.test(text) ? Math.min(Number(text), longestWaitS) * 1000 : null
}
