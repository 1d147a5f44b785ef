import { refusalIn } from "./refusal.ts"
import { authorization } from "./secret.ts"

/** A request over HTTP, for what is no call of a session; what was refused is thrown. */
export async function request(method: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(path, {
    method,
    headers: {
      ...authorization(),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const told: unknown = await answer.json()
  if (!answer.ok) throw new Error(refusalIn(told))
  return told
}
