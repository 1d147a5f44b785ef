import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Ending, ExecutionView } from "../../../../src/protocol/execution-view.ts"
import { seededRandom } from "../../../support/seeded-random.ts"
import type { Service } from "../../../support/service.ts"
import { StreamClient } from "../../../support/stream-client.ts"
import { until } from "../../../support/until.ts"
import { everyExecution } from "../every-execution.ts"
import type { Evidence } from "../evidence.ts"
import { healthOf } from "../health-of.ts"
import { sessionsOf } from "./load-mix.ts"
import { unansweredLabel } from "./vanishing.ts"
import type { Work } from "./work.ts"

export type RoundPlan = { service: Service; evidence: Evidence; folder: string; seed: number }

/** Much longer than a round takes on a busy machine: who is late waits for what never comes. */
const patienceMs = 150_000

/**
 * Everybody connects, then all work begins at once; when it is done, every execution must have
 * ended as its client expected. Answers all that went wrong.
 */
export async function playRound(plan: RoundPlan, mix: readonly Work[]): Promise<string[]> {
  const { service, evidence, folder, seed } = plan
  const url = await service.url()
  const expected = new Map<string, Partial<Ending>>()
  using connected = new DisposableStack()
  const casts = await Promise.all(
    mix.map(async (work) => {
      const clients = Array.from({ length: work.sessions }, () => StreamClient.connect(url))
      return { work, clients: (await Promise.all(clients)).map((client) => connected.use(client)) }
    }),
  )
  const { sessions } = await healthOf(service)
  if (sessions !== sessionsOf(mix)) throw new Error(`${sessions} sessions are open`)
  evidence.count("sessions", sessions)

  const played = await Promise.allSettled(
    casts.map(async ({ work, clients }, index) => {
      const own = join(folder, String(index))
      mkdirSync(own, { recursive: true })
      const random = seededRandom(seed + index * 7919)
      const expectEnd = (id: string, ending: Partial<Ending>) => expected.set(id, ending)
      const stage = { url, folder: own, random, evidence, expectEnd }
      await withPatience(work.run(stage, clients))
    }),
  )
  connected.dispose()

  const failures = played.flatMap((result, index) =>
    result.status === "fulfilled" ? [] : [`${mix[index]?.kind}: ${String(result.reason)}`],
  )
  evidence.count("works", played.length)
  evidence.count("works that failed", failures.length)
  if (failures.length > 0) await cancelAll(url)
  const ended = await endedExecutions(url)
  evidence.count("executions", ended.length)
  return [...failures, ...unexpectedEnds(ended, expected)]
}

/** What a client that failed has left to itself would be waited for in vain. */
async function cancelAll(url: string): Promise<void> {
  using client = await StreamClient.connect(url)
  const live = (await everyExecution(client)).filter(({ state }) => state !== "ended")
  await Promise.allSettled(
    live.map(({ execution_id }) => client.call("control", { type: "CANCEL", execution_id })),
  )
}

/** All that there is, once nothing is live any more. */
async function endedExecutions(url: string): Promise<ExecutionView[]> {
  using client = await StreamClient.connect(url)
  return await until(
    "every execution has ended",
    async () => {
      const executions = await everyExecution(client)
      return executions.every(({ state }) => state === "ended") && executions
    },
    patienceMs,
  )
}

function unexpectedEnds(
  executions: ExecutionView[],
  expected: ReadonlyMap<string, Partial<Ending>>,
): string[] {
  const ids = new Set(executions.map(({ execution_id }) => execution_id))
  const missing = [...expected.keys()].filter((id) => !ids.has(id))
  const unexpected = executions.flatMap(({ execution_id, ending, labels }) => {
    const isUnanswered = labels[unansweredLabel] !== undefined
    const wanted = isUnanswered ? disconnected : expected.get(execution_id)
    if (wanted === undefined) return [`${execution_id}: nobody asked for it`]
    const told: Partial<Ending> = ending ?? {}
    if (Bun.deepEquals({ ...told, ...wanted }, told)) return []
    return [`${execution_id}: ${JSON.stringify(ending)} instead of ${JSON.stringify(wanted)}`]
  })
  return [...missing.map((id) => `${id}: it is not listed`), ...unexpected]
}

const disconnected = { outcome: "stopped", cause: "disconnected" } as const

async function withPatience(work: Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>()
  const late = new Error(`not done within ${patienceMs} ms`)
  const timer = setTimeout(() => reject(late), patienceMs)
  await Promise.race([work, promise]).finally(() => clearTimeout(timer))
}
