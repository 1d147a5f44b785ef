import { z } from "zod"
import { firstSentence, refusalIn } from "./refusal.ts"

const key = "cc-executor-session"

/**
 * The secret of this window's session. Ports separate this storage, as they do not separate
 * cookies, and it ends with the window.
 */
export const secret = {
  read: (): string | null => sessionStorage.getItem(key),
  keep: (text: string): void => sessionStorage.setItem(key, text),
  forget: (): void => sessionStorage.removeItem(key),
}

export function authorization(): Record<string, string> {
  const own = secret.read()
  return own === null ? {} : { Authorization: `Bearer ${own}` }
}

const PageSession = z.object({ secret: z.string() })

/** Answers why it was not taken, null when it was. The token itself is kept nowhere. */
export async function signIn(token: string): Promise<string | null> {
  if (!/^[\x21-\x7e]+$/.test(token)) return "That is not a token: it begins with cce_."
  const headers = { Authorization: `Bearer ${token}` }
  const answer = await fetch("/sessions", { method: "POST", headers }).catch(() => null)
  if (answer === null) return "The service does not answer. Try again in a moment."
  const told: unknown = await answer.json()
  if (!answer.ok) return firstSentence(refusalIn(told))
  secret.keep(PageSession.parse(told).secret)
  return null
}

/** The service forgets it as well, if it can be reached. */
export async function signOut(): Promise<void> {
  await fetch("/sessions", { method: "DELETE", headers: authorization() }).catch(() => null)
  secret.forget()
}
