import { errnoOf } from "../../lib/errno.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { parseJson } from "../../lib/parse-json.ts"
import { HealthReport, NotReady, type Unreadiness } from "../../protocol/health-report.ts"
import { httpUrl, type RemoteAddress } from "./address.ts"
import type { ClientTls } from "./client-tls.ts"
import { tlsTrouble } from "./tls-trouble.ts"

export type Answer =
  | { kind: "answer"; status: number; body: string; ms: number }
  /** It names another place. What was asked, and the token, are for this one alone. */
  | { kind: "redirect"; status: number; to: string }
  /** Nobody listens there. */
  | { kind: "nobody"; why: string }
  /** Somebody does, and says nothing. */
  | { kind: "silent"; afterMs: number }

/** One HTTP request, over a unix socket where one is given. */
export async function ask(
  url: string,
  options: { unix?: string; token?: string | null; tls?: ClientTls; timeoutMs: number },
): Promise<Answer> {
  const { unix, token = null, tls, timeoutMs } = options
  const startedMs = performance.now()
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await fetch(url, {
      signal,
      redirect: "manual",
      ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
      ...(unix === undefined ? {} : { unix }),
      ...(tls === undefined ? {} : { tls }),
    })
    const to = response.headers.get("location")
    if (response.status >= 300 && response.status < 400 && to !== null) {
      return { kind: "redirect", status: response.status, to }
    }
    const body = await response.text()
    return { kind: "answer", status: response.status, body, ms: performance.now() - startedMs }
  } catch (error) {
    if (signal.aborted) return { kind: "silent", afterMs: timeoutMs }
    return { kind: "nobody", why: errnoOf(error) ?? String(error) }
  }
}

export type RemoteAnswer = Answer | { kind: "no-tls"; why: string }

/** One HTTP request to a remote service; where nobody can be spoken to, TLS may be the reason. */
export async function askRemote(
  address: RemoteAddress,
  path: string,
  timeoutMs: number,
): Promise<RemoteAnswer> {
  const { url, tls } = address
  const token = address.token?.read() ?? null
  const answer = await ask(httpUrl(url, path), { timeoutMs, token, tls })
  if (answer.kind !== "nobody") return answer
  const why = await tlsTrouble(url, tls)
  return why === null ? answer : { kind: "no-tls", why }
}

/** What /readyz says is wrong; null where that is no answer of ours. */
export function unreadinessIn(body: string): Unreadiness[] | null {
  const json = parseJson(body)
  return NotReady.safeParse(json.ok ? json.value : null).data?.reasons ?? null
}

/** What /health tells admins; null where it tells this caller nothing. */
export function healthIn(body: string): HealthReport | null {
  const json = parseJson(body)
  return HealthReport.safeParse(json.ok ? json.value : null).data ?? null
}

export function redirectText({ status, to }: Extract<Answer, { kind: "redirect" }>): string {
  return `it redirects (${status}) to ${onOneLine(to)}, which is not followed`
}

/** For one line: a remote service's words are a stranger's. */
export function unreadinessText({ name, message, action }: Unreadiness): string {
  return onOneLine(`${name}: ${message} ${action}`)
}
