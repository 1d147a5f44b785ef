import { refusalIn } from "./refusal.ts"
import { authorization } from "./secret.ts"

const noAnswer =
  "The connection was lost before an answer came. Try again: nothing is started twice."

/** A request over HTTP, for what is no call of a session; what was refused is thrown. */
export async function request(method: string, path: string, body?: unknown): Promise<unknown> {
  const asked = fetch(path, {
    method,
    headers: {
      ...authorization(),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const answer = await asked.catch(() => null)
  if (answer === null) throw new Error(noAnswer)
  const told: unknown = await answer.json()
  if (!answer.ok) throw new Error(refusalIn(told))
  return told
}
