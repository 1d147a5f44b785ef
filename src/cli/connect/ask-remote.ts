import { httpUrl, type RemoteAddress } from "./address.ts"
import { type Answer, ask } from "./ask.ts"
import { tlsTrouble } from "./tls-trouble.ts"

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
