import { errnoOf } from "../execution/errno.ts"
import type { ClientTls } from "./client-tls.ts"

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

export async function isReady(socketPath: string): Promise<boolean> {
  const options = { unix: socketPath, timeoutMs: readyTimeoutMs }
  const answer = await ask("http://localhost/readyz", options)
  return answer.kind === "answer" && answer.status === 200
}
