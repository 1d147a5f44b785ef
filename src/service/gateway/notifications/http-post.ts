import { errnoOf, messageOf } from "../../../lib/errno.ts"
import { onOneLine } from "../../../lib/harmless-text.ts"
import { type Attempted, delivered, failed, refused } from "./attempt.ts"

/** From the first byte to the last one of the answer. */
const deadlineMs = 10_000
/** What is read of an answer, so that its connection can be used again; nobody looks at it. */
const mostAnswerBytes = 64 * 1024
const mostRedirects = 3
const longestRetryAfterMs = 60 * 60 * 1000

/** Answers that say that this very message will never be taken. */
const finalStatuses: ReadonlySet<number> = new Set([400, 405, 410, 413, 415, 422])
/** Redirects after which the same is sent again, by what HTTP says of them. */
const repeatingStatuses: ReadonlySet<number> = new Set([307, 308])

export type Post = { url: string; headers: Record<string, string>; body: string }

/**
 * Sends one message, and takes no more of the answer than it must. A redirect is followed on the
 * same host only: whoever answers there must not choose who else gets the message.
 */
export async function httpPost(post: Post, ended: AbortSignal): Promise<Attempted> {
  const limit = AbortSignal.timeout(deadlineMs)
  const signal = AbortSignal.any([limit, ended])
  try {
    return await follow(post, signal)
  } catch (error) {
    if (limit.aborted) return failed(`no whole answer within ${deadlineMs / 1000} s`)
    if (ended.aborted) return failed("the service ended meanwhile")
    const nobody = unreachable.has(errnoOf(error) ?? "") ? { isUnreachable: true } : {}
    return { ...failed(whyNotSent(error)), ...nobody }
  }
}

async function follow(post: Post, signal: AbortSignal): Promise<Attempted> {
  let { url } = post
  for (let redirects = 0; ; redirects += 1) {
    const response = await fetch(url, {
      method: "POST",
      headers: post.headers,
      body: post.body,
      redirect: "manual",
      decompress: false,
      signal,
    })
    const location = response.headers.get("location")
    const { status } = response
    const isRepeating = repeatingStatuses.has(status) && location !== null
    if (!isRepeating) return judge(response, await readSome(response))
    await readSome(response)
    const next = URL.parse(location, url)
    if (next === null || next.origin !== new URL(url).origin) {
      return failed("it redirects to another host, which is not followed", status)
    }
    if (redirects === mostRedirects) return failed("it redirects again and again", status)
    url = next.href
  }
}

/** `isWhole`: false for an answer that is longer than anybody needs. */
function judge(response: Response, isWhole: boolean): Attempted {
  const { status } = response
  if (response.ok) {
    if (isWhole) return delivered(status)
    return { ...delivered(status), why: `its answer was cut off after ${mostAnswerBytes} bytes` }
  }
  const said = `it answered ${status}`
  if (finalStatuses.has(status)) return refused(said, status)
  if (status >= 300 && status < 400) return failed(`${said}: a redirect is not followed`, status)
  const retryAfterMs = readRetryAfter(response.headers.get("retry-after"))
  return { ...failed(said, status), ...(retryAfterMs === null ? {} : { retryAfterMs }) }
}

/** Whether that was all of it. What is not read is not received either. */
async function readSome(response: Response): Promise<boolean> {
  const body: ReadableStream<Uint8Array> | null = response.body
  if (body === null) return true
  const reader = body.getReader()
  for (let left = mostAnswerBytes; ; ) {
    const { done, value } = await reader.read()
    if (done) return true
    left -= value.length
    if (left >= 0) continue
    await reader.cancel()
    return false
  }
}

function readRetryAfter(text: string | null): number | null {
  if (text === null || !/^\d{1,9}$/.test(text)) return null
  return Math.min(Number(text) * 1000, longestRetryAfterMs)
}

/** By Bun's codes; its own messages are about Bun, and name the address, which may be a secret. */
const whyNot: Readonly<Record<string, string>> = {
  ECONNREFUSED: "it refused the connection",
  ECONNRESET: "it closed the connection before it had answered",
  ENOTFOUND: "its host name is not known",
  EPROTO: "the TLS handshake failed",
  InvalidHTTPResponse: "what it answered is no HTTP",
  Malformed_HTTP_Response: "what it answered is no HTTP",
  ResponseHeadersTooLarge: "the headers of its answer are too large",
}

const unreachable: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
])

function whyNotSent(error: unknown): string {
  const code = errnoOf(error) ?? ""
  const known = Object.hasOwn(whyNot, code) ? whyNot[code] : undefined
  if (known !== undefined) return known
  return onOneLine(messageOf(error).replaceAll(/\b(?:https?:\/\/|getaddrinfo )\S+/g, "its address"))
}
