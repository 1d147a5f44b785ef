import { type Failure, failure } from "../../protocol/failure.ts"

/**
 * Why a server would not open a socket, as far as the socket's `error` event says. Bun puts the
 * HTTP status into its message; browsers hide it, and so does Node: null.
 */
export function refusedUpgrade(event: Event): Failure | null {
  const text: unknown = "message" in event ? event.message : null
  const status = typeof text === "string" ? /101 status code: (\d{3})\s*$/.exec(text)?.[1] : null
  switch (status) {
    case "401":
      return failure("UNAUTHORIZED", refused(401, "it wants a token, and a good one"))
    case "403":
      return failure("FORBIDDEN", refused(403, "it does not allow this from here"))
    case "429":
      return failure("RATE_LIMITED", refused(429, "there were too many attempts"))
    default:
      return null
  }
}

function refused(status: number, why: string): string {
  return `The service refused the connection (${status}): ${why}.`
}
