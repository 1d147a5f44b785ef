import { describe, expect, test } from "bun:test"
import { OutputMetrics } from "../../../../src/service/gateway/reports/gateway-metrics.ts"
import { localUser } from "../../../support/callers.ts"
import { eventsOf, StagedExecution } from "../../../support/staged-execution.ts"

const { via } = localUser

describe("output on its way to a reader", () => {
  test("is counted when it is read, once for each reader", async () => {
    using staged = new StagedExecution()
    staged.write("12345\n")
    using first = await staged.open()
    using second = await staged.open()

    eventsOf(first, "text")
    eventsOf(second, "bytes")

    expect(staged.output.readerBy(via).bytes).toBe(12)
  })

  test("is late only for a reader that had caught up: what came before it is history", async () => {
    using staged = new StagedExecution()
    staged.write("history\n")
    using feed = await staged.open()
    eventsOf(feed, "text")
    const afterHistory = delays(staged.output)

    staged.write("news\n")
    eventsOf(feed, "text")

    expect(afterHistory).toBe(0)
    expect(delays(staged.output)).toBe(1)
  })

  test("that is gone is counted as the gap that is told", async () => {
    using staged = new StagedExecution({ bytes: 1024 })
    staged.write("line\n".repeat(1000))
    using feed = await staged.open()

    const [gap] = eventsOf(feed, "text")

    if (gap?.kind !== "gap") throw new Error(`no gap, but ${gap?.kind}`)
    const { gaps, gapBytes, gapLines } = staged.output.readerBy(via)
    expect({ gaps, gapBytes, gapLines }).toEqual({
      gaps: 1,
      gapBytes: gap.bytes,
      gapLines: gap.lines,
    })
  })
})

function delays(metrics: OutputMetrics): number {
  return metrics.delay.sample().counts.reduce((sum, count) => sum + count, 0)
}
