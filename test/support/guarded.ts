import { type Failure, wireCodes, wireError } from "../../src/protocol/failure.ts"
import type { ScriptedServer } from "./scripted-server.ts"

export type Guard = {
  /** The token that is let in; null lets nobody in. */
  token: string | null
  refusal: Failure
  /** The Authorization headers of all who came, null for those without. */
  readonly shown: (string | null)[]
}

/** Has a server refuse whoever does not bring the token, in the service's own form. */
export function guarded(server: ScriptedServer, token: string | null, refusal: Failure): Guard {
  const guard: Guard = { token, refusal, shown: [] }
  server.guard = (request) => {
    const shown = request.headers.get("authorization")
    guard.shown.push(shown)
    if (guard.token !== null && shown === `Bearer ${guard.token}`) {
      return new URL(request.url).pathname === "/readyz" ? Response.json({ ready: true }) : null
    }
    const { http: status } = wireCodes(guard.refusal.reason)
    return Response.json({ error: wireError(guard.refusal) }, { status })
  }
  return guard
}
