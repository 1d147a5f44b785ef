import type { Client } from "../../../../src/client/connect.ts"
import type { ContainmentMode } from "../../../../src/execution/record.ts"
import { until } from "../../../support/until.ts"
import { checkEverything } from "./check-everything.ts"
import { ownByHand } from "./client-by-hand.ts"
import { describePlan, type FaultPlan, type PlannedExecution } from "./fault-plan.ts"
import { listAll } from "./final-record.ts"
import { observe, ownByLibrary, reconnectingClient } from "./library-client.ts"
import { Told, type ToldExecution } from "./told.ts"
import { TriedService } from "./tried-service.ts"

export type FaultRun = {
  /** Invariants that did not hold, each with what it was. */
  violations: string[]
  /** The plan, and what happened in its order. */
  story: string[]
  executions: number
  bytes: number
  connections: number
  peakMb: { keeper: number; gateway: number }
  orphans: number
}

const patienceMs = 45_000
const stallMs = 600

/** Carries out a plan, and holds what clients were told against what is on record in the end. */
export async function runFaults(plan: FaultPlan, containment: ContainmentMode): Promise<FaultRun> {
  const told = new Told()
  await using tried = await TriedService.start(plan, containment, told)
  const clients = Array.from({ length: 3 }, () => reconnectingClient(tried.network.url))
  const violations: string[] = []
  const ended = Promise.all([
    suffer(plan, tried, told),
    ...plan.executions.map((one, index) => carryOut(one, tried, told, clients, index)),
  ])
  const late = Bun.sleep(patienceMs).then(() => "late" as const)
  const outcome = await Promise.race([ended, late]).catch((error: unknown) => error)
  if (outcome === "late") {
    violations.push(`not over after ${patienceMs} ms: ${unfinished(told)}`)
    told.happened("the record at that time:")
    const listed = await listAll(tried.service).catch(() => [])
    for (const { labels, state, ended_at, bytes } of listed) {
      told.happened(`  "${labels["key"]}" ${state} ${ended_at} ${JSON.stringify(bytes)}`)
    }
  } else if (outcome instanceof Error) violations.push(`a client failed: ${outcome.stack}`)
  told.isOver = true
  await Promise.all(clients.map((client) => client.close()))

  const wrong = checkEverything(plan, tried, told)
  violations.push(
    ...(await wrong.catch((error: unknown) => [`the check failed: ${String(error)}`])),
  )
  return {
    violations,
    story: [...describePlan(plan), ...told.story],
    executions: told.executions.length,
    bytes: told.executions.flatMap(({ accounts }) => accounts).reduce(addBytes, 0),
    connections: tried.network.connections,
    peakMb: tried.peakMb,
    orphans: tried.orphans,
  }
}

function addBytes(sum: number, { position }: { position: number }): number {
  return sum + position
}

async function suffer(plan: FaultPlan, tried: TriedService, told: Told): Promise<void> {
  const underWay: Promise<void>[] = []
  for (const fault of plan.faults) {
    await untilFacts(told, told.facts + fault.afterFacts)
    const { afterFacts: _, ...act } = fault
    const suffered = tried.suffer(act)
    // One that lasts goes on beside the next; only a keeper must be back before anything else.
    if (fault.kind === "kill-keeper" || fault.kind === "kill-both") await suffered
    else underWay.push(suffered)
  }
  await Promise.all(underWay)
}

/** Or until nothing more seems to come. */
async function untilFacts(told: Told, wanted: number): Promise<void> {
  let [seen, sinceMs] = [told.facts, performance.now()]
  while (told.facts < wanted && performance.now() - sinceMs < stallMs) {
    await Bun.sleep(2)
    if (told.facts !== seen) [seen, sinceMs] = [told.facts, performance.now()]
  }
}

async function carryOut(
  planned: PlannedExecution,
  tried: TriedService,
  told: Told,
  clients: Client[],
  index: number,
): Promise<void> {
  await untilFacts(told, planned.afterFacts)
  const execution = told.asks(planned, tried.generation)
  const client = clients[index % clients.length]
  const observer = clients[(index + 1) % clients.length]
  if (client === undefined || observer === undefined) throw new Error("there are no clients")
  const owned =
    planned.owner === "library"
      ? ownByLibrary(client, execution)
      : ownByHand(tried.network.url, execution)
  await Promise.all([
    owned,
    ...planned.observers.map((encoding) => observeOnceKnown(observer, execution, encoding, owned)),
  ])
}

async function observeOnceKnown(
  client: Client,
  execution: ToldExecution,
  encoding: "utf8" | "base64" | "binary",
  owned: Promise<void>,
): Promise<void> {
  const isKnown = until("it is known", () => execution.ids.size > 0, patienceMs).then(() => true)
  isKnown.catch(() => undefined)
  const isThere = await Promise.race([isKnown, owned.then(() => execution.ids.size > 0)])
  if (isThere) await observe(client, execution, encoding)
}

function unfinished(told: Told): string {
  const open = told.executions.flatMap(({ accounts, planned }) =>
    accounts
      .filter(({ end }) => end === null)
      .map(({ who }) => who)
      .concat(accounts.length === 0 ? [`"${planned.key}" without an answer`] : []),
  )
  return open.join("; ")
}
