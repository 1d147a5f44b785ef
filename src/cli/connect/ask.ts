import { errnoOf } from "../../lib/errno.ts"
import type { ClientTls } from "./client-tls.ts"
import { unreadinessIn } from "./unreadiness.ts"

export type Answer =
  | { kind: "answer"; status: number; body: string; ms: number }
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
      ...(token === null ? {} : { headers: { authorization: `Bearer ${token}` } }),
      ...(unix === undefined ? {} : { unix }),
      ...(tls === undefined ? {} : { tls }),
    })
    const body = await response.text()
    return { kind: "answer", status: response.status, body, ms: performance.now() - startedMs }
  } catch (error) {
    if (signal.aborted) return { kind: "silent", afterMs: timeoutMs }
    return { kind: "nobody", why: errnoOf(error) ?? String(error) }
  }
}

const readyTimeoutMs = 2_000

/** Whether a service is there to be asked. One that is full is; one that ends is not. */
export async function isThere(socketPath: string): Promise<boolean> {
  const options = { unix: socketPath, timeoutMs: readyTimeoutMs }
  const answer = await ask("http://localhost/readyz", options)
  if (answer.kind !== "answer") return false
  if (answer.status === 200) return true
  const reasons = unreadinessIn(answer.body)
  return reasons !== null && reasons.every(({ name }) => name !== "shutting-down")
}
