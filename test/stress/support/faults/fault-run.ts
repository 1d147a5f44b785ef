import type { Client } from "../../../../src/client/connect.ts"
import type { ContainmentMode } from "../../../../src/execution/record.ts"
import { until } from "../../../support/until.ts"
import { checkEverything } from "./check-everything.ts"
import { ownByHand } from "./client-by-hand.ts"
import { describePlan, type FaultPlan, type PlannedExecution } from "./fault-plan.ts"
import { listAll } from "./final-record.ts"
import { observe, ownByLibrary, reconnectingClient } from "./library-client.ts"
import { Observations, type ObservedExecution } from "./observations.ts"
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
  const observed = new Observations()
  await using tried = await TriedService.start(plan, containment, observed)
  const clients = Array.from({ length: 3 }, () => reconnectingClient(tried.network.url))
  const violations: string[] = []
  const ended = Promise.all([
    suffer(plan, tried, observed),
    ...plan.executions.map((one, index) => carryOut(one, tried, observed, clients, index)),
  ])
  const late = Bun.sleep(patienceMs).then(() => "late" as const)
  const outcome = await Promise.race([ended, late]).catch((error: unknown) => error)
  if (outcome === "late") {
    violations.push(`not over after ${patienceMs} ms: ${unfinished(observed)}`)
    observed.happened("the record at that time:")
    const listed = await listAll(tried.service).catch(() => [])
    for (const { labels, state, ended_at, bytes } of listed) {
      observed.happened(`  "${labels["key"]}" ${state} ${ended_at} ${JSON.stringify(bytes)}`)
    }
  } else if (outcome instanceof Error) violations.push(`a client failed: ${outcome.stack}`)
  observed.isOver = true
  await Promise.all(clients.map((client) => client.close()))

  const wrong = checkEverything(plan, tried, observed)
  violations.push(
    ...(await wrong.catch((error: unknown) => [`the check failed: ${String(error)}`])),
  )
  return {
    violations,
    story: [...describePlan(plan), ...observed.story],
    executions: observed.executions.length,
    bytes: observed.executions.flatMap(({ accounts }) => accounts).reduce(addBytes, 0),
    connections: tried.network.connections,
    peakMb: tried.peakMb,
    orphans: tried.orphans,
  }
}

function addBytes(sum: number, { position }: { position: number }): number {
  return sum + position
}

async function suffer(plan: FaultPlan, tried: TriedService, observed: Observations): Promise<void> {
  const underWay: Promise<void>[] = []
  for (const fault of plan.faults) {
    await untilFacts(observed, observed.facts + fault.afterFacts)
    const { afterFacts: _, ...act } = fault
    const suffered = tried.suffer(act)
    // One that lasts goes on beside the next; only a keeper must be back before anything else.
    if (fault.kind === "kill-keeper" || fault.kind === "kill-both") await suffered
    else underWay.push(suffered)
  }
  await Promise.all(underWay)
}

/** Or until nothing more seems to come. */
async function untilFacts(observed: Observations, wanted: number): Promise<void> {
  let [seen, sinceMs] = [observed.facts, performance.now()]
  while (observed.facts < wanted && performance.now() - sinceMs < stallMs) {
    await Bun.sleep(2)
    if (observed.facts !== seen) [seen, sinceMs] = [observed.facts, performance.now()]
  }
}

async function carryOut(
  planned: PlannedExecution,
  tried: TriedService,
  observed: Observations,
  clients: Client[],
  index: number,
): Promise<void> {
  await untilFacts(observed, planned.afterFacts)
  const execution = observed.asks(planned, tried.generation)
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
  execution: ObservedExecution,
  encoding: "utf8" | "base64" | "binary",
  owned: Promise<void>,
): Promise<void> {
  const isKnown = until("it is known", () => execution.ids.size > 0, patienceMs).then(() => true)
  isKnown.catch(() => undefined)
  const isThere = await Promise.race([isKnown, owned.then(() => execution.ids.size > 0)])
  if (isThere) await observe(client, execution, encoding)
}

function unfinished(observed: Observations): string {
  const open = observed.executions.flatMap(({ accounts, planned }) =>
    accounts
      .filter(({ end }) => end === null)
      .map(({ who }) => who)
      .concat(accounts.length === 0 ? [`"${planned.key}" without an answer`] : []),
  )
  return open.join("; ")
}
