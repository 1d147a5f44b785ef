import { describe, expect, test } from "bun:test"
import { describeAContainment } from "../support/each-containment.ts"
import { memoryOf } from "../support/memory-of.ts"
import { expectNothingLeft, markedBy } from "../support/real-processes.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { until } from "../support/until.ts"
import { bothPssMb } from "./support/both-pss.ts"
import { reported } from "./support/evidence.ts"
import { growth, growthNote, growthOf, mostGrowthMb } from "./support/growth.ts"
import { ownExecutable } from "./support/own-executable.ts"
import { WatchedFlood } from "./support/watched-flood.ts"

const floodMs = byScale({ short: 15_000, full: 60_000, long: 600_000 })
const most = { rssMb: 100, bothPssMb: 120 }
// Who takes nothing for five minutes would be closed, as it should be; here it is to come back.
const streamTimeout = "1h"
// Small enough that who stalled can take all that is left; there is far more output than this.
const budget = { bytes: 64 * 1024 * 1024, policy: "drop-oldest" } as const

describeAContainment("`yes`, paced by pv and at full speed at once", (containment) => {
  // Both modes at once, each with its own service: the test takes the time of one.
  test.concurrent(
    "leaves memory flat and each client with all that it was not told to miss",
    reported(`floods with fast, slow and stalled clients, ${containment}`, async (evidence) => {
      using own = ownExecutable()
      const flags = { containment, "stream-timeout": streamTimeout }
      await using service = await Service.start({ prefix: own.prefix, flags })
      const url = await service.url()
      const gatewayPid = service.gatewayPid
      using watch = evidence.watch(service)
      using paced = await WatchedFlood.start(url, { command: "yes | pv -qL 50000", budget })
      using plain = await WatchedFlood.start(url, { argv: ["yes"], budget })
      const floods = { paced, plain }

      const startedMs = performance.now()
      const isOver = () => performance.now() - startedMs > floodMs
      await until("the flood's time is over", isOver, floodMs + 5000)
      const samples = [...watch.samples]
      for (const [name, flood] of Object.entries(floods)) {
        for (const watcher of ["fast", "slow", "stalled"] as const) {
          evidence.count(`${name}, ${watcher}: MB taken live`, flood.output(watcher).bytes / 1e6)
        }
        const completed = await flood.cancel()
        flood.expectAllAccounted(completed)
        evidence.count(`${name}: MB written`, completed.bytes.stdout / 1e6)
        evidence.count(
          `${name}, stalled: MB told as gaps`,
          flood.output("stalled").gaps.bytes / 1e6,
        )
        evidence.orphans(markedBy(flood.id).length)
      }
      for (const flood of Object.values(floods)) await expectNothingLeft(service, flood.id)

      const growths = growthOf(samples)
      evidence.note(growthNote(growths))
      expect(service.gatewayPid).toBe(gatewayPid)
      expect(memoryOf(service.pid).peakMb).toBeLessThan(most.rssMb)
      expect(memoryOf(gatewayPid).peakMb).toBeLessThan(most.rssMb)
      expect(Math.max(...watch.samples.map(bothPssMb))).toBeLessThan(most.bothPssMb)
      for (const value of Object.values(growths)) expect(value).toBeLessThan(mostGrowthMb)
      expect(paced.output("fast").bytes).toBeGreaterThan((50_000 * floodMs * 0.8) / 1000)
      expect(plain.output("stalled").gaps.bytes).toBeGreaterThan(0)
      expect(service.log.filter((line) => /"level":"error"/.test(line))).toEqual([])
    }),
    floodMs + 90_000,
  )
})

describe("the rule for growth", () => {
  // Heaps as they are: some MB up and down between collections, and more at the start.
  const heap = (mbPerSecond: number) =>
    Array.from({ length: 240 }, (_, at) => {
      const seconds = at / 4
      return 60 + (at % 17) * 0.6 + 12 * (1 - Math.exp(-seconds / 4)) + mbPerSecond * seconds
    })

  test("finds a leak of 0.5 MB/s in a minute", () => {
    expect(growth(heap(0.5))).toBeGreaterThan(mostGrowthMb)
  })

  test("leaves a heap alone that only breathes", () => {
    expect(growth(heap(0))).toBeLessThan(1)
  })
})
