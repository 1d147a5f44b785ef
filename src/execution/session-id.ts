/**
 * Whether an agent's session can be called that. The agent tells it, and it becomes a word of a
 * command line when the session is gone on with.
 */
export function isSessionId(text: string): boolean {
  return /^\w[\w-]{0,63}$/.test(text)
}
