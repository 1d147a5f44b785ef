import { expect, test } from "bun:test"
import { describeAContainment } from "../support/each-containment.ts"
import { memoryOf } from "../support/memory-of.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { scale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { compareCosts } from "./support/cost-comparison.ts"
import { everyExecution } from "./support/every-execution.ts"
import { type Evidence, reported } from "./support/evidence.ts"
import { growthNote, growthOf, mostGrowthMb as mostInLongRun } from "./support/growth.ts"
import type { MemorySample } from "./support/scenario.ts"
import { settledFds, strangersBelow } from "./support/service-costs.ts"
import { runShorts } from "./support/short-execution.ts"

const isLong = scale === "long"
const perBatch = isLong ? 500 : 150
// The last executions are compared with those of a fresh service that is past most of its warm-up:
// about 1,000 executions in the long mode, 250 in the short one.
const grown = isLong ? 18_000 : 1200
const warmUp = isLong ? 1000 : 250
const windows = isLong
  ? { executions: 200, least: 10, most: 20 }
  : { executions: 50, least: 6, most: 24 }
const total = grown + windows.least * windows.executions
const mostCostRatio = isLong ? 1.2 : 1.3
const mostRssMb = 100
// The short mode takes some seconds, in which a heap still grows into its load: it finds what leaks
// 30 KB or more an execution, the long mode 1 KB.
const mostGrowthMb = isLong ? mostInLongRun : 15

describeAContainment(`${total} short executions, eight at once`, (containment) => {
  test(
    "cost as much in the end as early on, and leave neither memory nor files behind",
    reported(`${total} short executions, ${containment}`, async (evidence) => {
      await using service = await Service.start({ flags: { containment } })
      const url = await service.url()
      const ids = await runShorts(url, { from: 0, to: perBatch }, evidence)
      const fdsBefore = await settledFds(service)
      const samples = await grow(service, ids, evidence)
      await using fresh = await Service.start({ flags: { containment } })
      await runShorts(await fresh.url(), { from: 0, to: warmUp }, evidence)
      const work = async (one: Service) => {
        const ran = await runShorts(await one.url(), nextNumbers(ids), evidence)
        if (one === service) ids.push(...ran)
      }
      const cost = await compareCosts(
        { fresh, grown: service },
        { ...windows, mostRatio: mostCostRatio },
        work,
      )
      const fdsAfter = await settledFds(service)
      const strangers = strangersBelow(service)

      const growths = growthOf(samples)
      evidence.note(growthNote(growths))
      evidence.count("executions", ids.length)
      evidence.count("keeper CPU per execution of a fresh service, ms", cost.freshMs)
      evidence.count("keeper CPU per execution in the end, ms", cost.grownMs)
      evidence.orphans(strangers.length)
      expect(strangers).toEqual([])
      expect(fdsAfter).toEqual(fdsBefore)
      expect(cost.ratio).toBeLessThanOrEqual(mostCostRatio)
      for (const value of Object.values(growths)) expect(value).toBeLessThan(mostGrowthMb)
      expect((await listedIds(url)).toSorted()).toEqual(ids.toSorted())
      expect(memoryOf(service.pid).peakMb).toBeLessThan(mostRssMb)
      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(mostRssMb)
      await expectNothingLeft(service, ids[0] ?? "")
    }),
    isLong ? 1_200_000 : 120_000,
  )
})

/** Executes all that come before the comparison, and asks for them; answers what memory it took. */
async function grow(service: Service, ids: string[], evidence: Evidence): Promise<MemorySample[]> {
  using watch = evidence.watch(service)
  const url = await service.url()
  while (ids.length < grown) {
    const numbers = { from: ids.length, to: Math.min(ids.length + perBatch, grown) }
    ids.push(...(await runShorts(url, numbers, evidence)))
    await timeQueries(url, ids, evidence)
  }
  return [...watch.samples]
}

/** Those of the next window. */
function nextNumbers(ids: readonly string[]): { from: number; to: number } {
  return { from: ids.length, to: ids.length + windows.executions }
}

/** What a client asks most, while there are more and more executions to be found. */
async function timeQueries(url: string, ids: readonly string[], evidence: Evidence): Promise<void> {
  using client = await StreamClient.connect(url)
  for (let round = 0; round < 10; round += 1) {
    const execution_id = ids[Math.floor((ids.length * round) / 10)] ?? ""
    const listedMs = performance.now()
    await client.call("list", { limit: 100 })
    evidence.latency("list of 100", performance.now() - listedMs)
    const statusMs = performance.now()
    await client.call("status", { execution_id })
    evidence.latency("status", performance.now() - statusMs)
  }
}

async function listedIds(url: string): Promise<string[]> {
  using client = await StreamClient.connect(url)
  const executions = await everyExecution(client)
  return executions.map(({ execution_id }) => execution_id)
}
