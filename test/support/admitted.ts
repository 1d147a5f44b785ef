import { HttpTalk } from "./http-talk.ts"
import { RawSession } from "./raw-session.ts"
import type { Service } from "./service.ts"
import { bearing, makeToken } from "./tokens.ts"

export type Admitted = Disposable & { session: RawSession; http: HttpTalk }

/** A client of a service with a policy: the one place that knows how to get in there. */
export async function admitted(service: Service): Promise<Admitted> {
  await service.listening
  const shown = bearing(await makeToken(service.stateDir, { name: "admitted", scope: "admin" }))
  const session = await RawSession.open(await service.url(), shown)
  const http = new HttpTalk(await service.url(""), null, shown.headers)
  return { session, http, [Symbol.dispose]: () => session[Symbol.dispose]() }
}
