import type { Chance } from "../../../support/chance.ts"
import { RawSession } from "../../../support/raw-session.ts"
import type { Service } from "../../../support/service.ts"
import { StreamClient } from "../../../support/stream-client.ts"
import { TcpTalk } from "../../../support/tcp-talk.ts"
import { healthOf } from "../health-of.ts"

const limitRefusal = { code: -32001, reason: "SESSION_LIMIT", closedWith: 1008 }

/** Many connect at once: answers how many were let in, and in what other ways it went wrong. */
export async function rush(
  url: string,
  count: number,
): Promise<{ sessions: RawSession[]; faults: string[] }> {
  const tried = await Promise.all(
    Array.from({ length: count }, async () => {
      const session = new RawSession(url)
      const refused = refusalOf(session)
      const isIn = await Promise.race([
        session.heard("connected").then(
          () => true,
          () => false,
        ),
        refused.then(() => false),
      ])
      return isIn ? { session, refusal: null } : { session, refusal: await refused }
    }),
  )
  return {
    sessions: tried.flatMap(({ session, refusal }) => (refusal === null ? [session] : [])),
    faults: tried
      .filter(({ refusal }) => refusal !== null && !Bun.deepEquals(refusal, limitRefusal))
      .map(({ refusal }) => `refused with ${JSON.stringify(refusal)}`),
  }
}

async function refusalOf(session: RawSession): Promise<typeof limitRefusal> {
  const { code, data } = await session.refusalOf(null)
  const closed = await session.closed
  return { code, reason: data.reason, closedWith: closed.code }
}

/**
 * Clients come, stay for a moment and leave, politely or not, until the time is over: always more
 * of them than may stay. Answers what went wrong, and the most that were seen inside at once.
 */
export async function comeAndGo(
  service: Service,
  options: { clients: number; limit: number; durationMs: number; chance: Chance },
): Promise<{ faults: string[]; visits: number; refusals: number; most: number }> {
  const { clients, limit, durationMs, chance } = options
  const url = await service.url()
  const endMs = performance.now() + durationMs
  const seen = { faults: new Array<string>(), visits: 0, refusals: 0, most: 0 }

  const visit = async () => {
    const client = new StreamClient(url)
    const isIn = await client.greeting.then(
      () => true,
      () => false,
    )
    if (!isIn) {
      const { code } = await client.closed
      seen.refusals += 1
      if (code !== limitRefusal.closedWith) seen.faults.push(`closed with ${code}`)
      return
    }
    seen.visits += 1
    await Bun.sleep(chance(20)) // how long it stays
    if (chance(2) === 0) client.call("list", {}).catch(() => undefined)
    client.cut()
  }
  const visitor = async () => {
    while (performance.now() < endMs) await visit()
  }
  const watchman = async () => {
    while (performance.now() < endMs) {
      seen.most = Math.max(seen.most, (await healthOf(service)).sessions)
      await Bun.sleep(5) // so often it looks
    }
  }
  await Promise.all([watchman(), ...Array.from({ length: clients }, visitor)])
  if (seen.most > limit) seen.faults.push(`${seen.most} sessions were open at once`)
  return seen
}

/** Asks to be let in where nobody is, is refused, and does not go away. */
export async function loiter(url: string): Promise<TcpTalk> {
  const talk = await TcpTalk.connect(url)
  await talk.upgrade(url)
  return talk
}
