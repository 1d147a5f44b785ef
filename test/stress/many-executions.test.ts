import { expect, test } from "bun:test"
import { describeEachContainment } from "../support/each-containment.ts"
import { memoryOf } from "../support/memory-of.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { scale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { StreamClient } from "../support/stream-client.ts"
import { everyExecution } from "./support/every-execution.ts"
import { type Evidence, reported } from "./support/evidence.ts"
import { growthNote, growthOf, mostGrowthMb as mostInLongRun } from "./support/growth.ts"
import { keeperCpuMs, settledFds, strangersBelow } from "./support/service-costs.ts"
import { runShorts } from "./support/short-execution.ts"

const isLong = scale === "long"
const total = isLong ? 20_000 : 1500
const perWindow = isLong ? 500 : 150
// Windows of about 1,000 executions in the long mode, and of 500 in the short one, which is past
// most of the warm-up; against the last ones. The cheapest of three: a collection, or what else the
// machine does, only ever adds.
const early = isLong ? { from: 1, to: 4 } : { from: 2, to: 5 }
const mostCostRatio = isLong ? 1.2 : 1.3
const mostRssMb = 100
// The short mode takes some seconds, in which a heap still grows into its load: it finds what leaks
// 30 KB or more an execution, the long mode 1 KB.
const mostGrowthMb = isLong ? mostInLongRun : 15

describeEachContainment(`${total} short executions, eight at once`, (containment) => {
  test(
    "cost as much in the end as early on, and leave neither memory nor files behind",
    reported(`${total} short executions, ${containment}`, async (evidence) => {
      await using service = await Service.start({ flags: { containment } })
      const url = await service.url()
      const ids = await runShorts(url, { from: 0, to: perWindow }, evidence)
      const fdsBefore = await settledFds(service)
      using watch = evidence.watch(service)

      const costsMs: number[] = []
      for (let from = perWindow; from < total; from += perWindow) {
        const cpuBeforeMs = keeperCpuMs(service)
        ids.push(...(await runShorts(url, { from, to: from + perWindow }, evidence)))
        costsMs.push((keeperCpuMs(service) - cpuBeforeMs) / perWindow)
        await timeQueries(url, ids, evidence)
      }
      const samples = [...watch.samples]
      const fdsAfter = await settledFds(service)
      const strangers = strangersBelow(service)

      const earlyMs = Math.min(...costsMs.slice(early.from - 1, early.to - 1))
      const lateMs = Math.min(...costsMs.slice(-3))
      const growths = growthOf(samples)
      evidence.note(growthNote(growths))
      evidence.count("executions", ids.length)
      evidence.count("keeper CPU per execution early, ms", earlyMs)
      evidence.count("keeper CPU per execution in the end, ms", lateMs)
      evidence.orphans(strangers.length)
      expect(strangers).toEqual([])
      expect(fdsAfter).toEqual(fdsBefore)
      expect(lateMs / earlyMs).toBeLessThanOrEqual(mostCostRatio)
      for (const value of Object.values(growths)) expect(value).toBeLessThan(mostGrowthMb)
      expect((await listedIds(url)).toSorted()).toEqual(ids.toSorted())
      expect(memoryOf(service.pid).peakMb).toBeLessThan(mostRssMb)
      expect(memoryOf(service.gatewayPid).peakMb).toBeLessThan(mostRssMb)
      await expectNothingLeft(service, ids[0] ?? "")
    }),
    isLong ? 1_200_000 : 120_000,
  )
})

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
