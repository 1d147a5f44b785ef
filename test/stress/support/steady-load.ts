import { mkdirSync, rmSync } from "node:fs"
import { join } from "node:path"
import { seededRandom } from "../../support/seeded-random.ts"
import { StreamClient } from "../../support/stream-client.ts"
import type { Evidence } from "./evidence.ts"
import { oneOfEach } from "./mixed-load/load-mix.ts"
import { pick, type Stage, type Work } from "./mixed-load/work.ts"
import { WatchedFlood } from "./watched-flood.ts"

export type SteadyLoad = {
  url: string
  evidence: Evidence
  folder: string
  seed: number
  durationMs: number
}

const hands = 5
const patienceMs = 120_000
const mostFailures = 10

/** A flood far past its budget, which is cancelled, and of which everybody has an account. */
const budgetedFloodWork: Work = {
  kind: "budgeted flood",
  sessions: 0,
  async run(stage) {
    const budget = { bytes: 4 * 1024 * 1024, policy: "drop-oldest" } as const
    using flood = await WatchedFlood.start(stage.url, { argv: ["yes"], budget })
    stage.expectEnd(flood.id, { outcome: "stopped", cause: "client" })
    await Bun.sleep(500 + stage.random(2000)) // that it goes on for a while is the load
    flood.expectAllAccounted(await flood.cancel())
  },
}

const works = [...oneOfEach, budgetedFloodWork]

/**
 * A few hands, each of which begins the next piece of work when one is done, of all kinds. Half of
 * what has ended is removed at once. Answers what went wrong.
 */
export async function keepBusy(load: SteadyLoad): Promise<string[]> {
  const endMs = performance.now() + load.durationMs
  const failures: string[] = []
  const work = async (_: unknown, hand: number) => {
    const random = seededRandom(load.seed + hand * 7919)
    for (let turn = 0; performance.now() < endMs && failures.length < mostFailures; turn += 1) {
      const next = pick({ random }, works)
      const folder = join(load.folder, `${hand}-${turn}`)
      mkdirSync(folder, { recursive: true })
      await withPatience(playOne(load, next, folder, random)).catch((error: unknown) => {
        failures.push(`${next.kind}: ${String(error)}`)
      })
      rmSync(folder, { recursive: true, force: true })
    }
  }
  await Promise.all(Array.from({ length: hands }, work))
  return failures
}

async function playOne(
  { url, evidence }: SteadyLoad,
  work: Work,
  folder: string,
  random: Stage["random"],
): Promise<void> {
  const ids: string[] = []
  using connected = new DisposableStack()
  const opening = Array.from({ length: work.sessions }, () => StreamClient.connect(url))
  const clients = (await Promise.all(opening)).map((client) => connected.use(client))
  await work.run({ url, folder, random, evidence, expectEnd: (id) => ids.push(id) }, clients)
  evidence.count(work.kind, 1)
  if (random(2) === 0) await removeAll(url, ids, evidence)
}

/** Removed is gone: nobody finds it any more. */
async function removeAll(url: string, ids: readonly string[], evidence: Evidence): Promise<void> {
  using client = await StreamClient.connect(url)
  for (const execution_id of ids) {
    await client.call("remove", { execution_id })
    const reason = await client.refusal("status", { execution_id })
    if (reason !== "PROCESS_NOT_FOUND") throw new Error(`${execution_id} was removed: ${reason}`)
    evidence.count("executions removed", 1)
  }
}

async function withPatience(work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = new Error(`it was not done within ${patienceMs} ms`)
  const timer = setTimeout(() => reject(late), patienceMs)
  await Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
