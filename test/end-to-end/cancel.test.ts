import { describe, expect, test } from "bun:test"
import { readStat } from "../../src/service/os/proc.ts"
import { describeEachContainment } from "../support/each-containment.ts"
import { expectNothingLeft, markedBy } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { byScale } from "../support/scale.ts"
import { sharedService } from "../support/shared-service.ts"
import { StalledClient } from "../support/stalled-client.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

/** Of a tree that forks all the time. */
const loops = byScale({ short: 16, full: 50, long: 50 })
const floodBytes = byScale({ short: 12_000_000, full: 50_000_000, long: 50_000_000 })

describeEachContainment("with a grace of a minute", (containment) => {
  const shared = sharedService({ flags: { containment, grace: "1m" } })

  describe("a flood with one client that reads and one that has stalled", () => {
    test("is canceled without any wait for its grace, and nothing of it is left", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const execution = await client.execute({ argv: ["yes"] }, { output: "ignore" })
      using _stalled = await StalledClient.attach(await service.url(), execution.id)
      const bytes = async () =>
        (await client.call("status", { execution_id: execution.id })).bytes.stdout
      await until("the flood is under way", async () => (await bytes()) > floodBytes)

      const startedMs = performance.now()
      const { processes, survivors } = await execution.cancel()
      const tookMs = performance.now() - startedMs

      expect(tookMs).toBeLessThan(20_000)
      expect(survivors).toEqual([])
      expect(processes).toEqual([
        { pid: execution.pid ?? 0, signal: "SIGTERM", ms: expect.any(Number) },
      ])
      const completed = await execution.ended
      expect(completed).toMatchObject({ outcome: "stopped", cause: "client", signal: "SIGTERM" })
      await expectNothingLeft(service, execution.id)
    }, 60_000)
  })

  describe("a child that has suspended itself", () => {
    test("is woken to meet the polite signal", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("stop-itself.sh"))
      const leader = await run.untilProcess("leader")
      await until("it is suspended", () => readStat(leader.pid)?.state === "T")

      const startedMs = performance.now()
      const { processes, survivors } = await run.execution.cancel()

      expect(performance.now() - startedMs).toBeLessThan(20_000)
      expect(processes).toMatchObject([{ pid: leader.pid, signal: "SIGTERM" }])
      expect(survivors).toEqual([])
      expect(await run.ended()).toMatchObject({ outcome: "stopped", signal: "SIGTERM" })
      await expectNothingLeft(service, run.id, [leader])
    })
  })

  describe("a child that ends well when it is canceled", () => {
    test("has failed all the same, with the exit code it gave", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "trap 'echo cleaned up; exit 0' TERM; echo ready; while :; do sleep 0.01; done"
      const run = await Steered.start(client, shell(script))
      await run.untilLine(/^ready$/)

      await run.execution.cancel()

      const { status, outcome, cause, exit_code } = await run.ended()
      expect({ status, outcome, cause, exit_code }).toEqual({
        status: "failed",
        outcome: "stopped",
        cause: "client",
        exit_code: 0,
      })
      expect(run.text).toEndWith("cleaned up\n")
      await expectNothingLeft(service, run.id)
    })
  })

  describe("an order that names no execution", () => {
    test("is for the session's latest, and refused before there is one", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const nothing = await refusal(client.call("control", { type: "CANCEL" }))
      expect(nothing).toMatchObject({ reason: "PROCESS_NOT_FOUND" })
      const first = await Steered.start(client, { argv: ["sleep", "1000"] })
      const latest = await Steered.start(client, { argv: ["sleep", "1000"] })

      const canceled = await client.call("control", { type: "CANCEL" })

      expect(canceled).toMatchObject({ status: "canceled", execution_id: latest.id })
      expect((await first.status()).state).toBe("running")
      await first.execution.cancel()
    })
  })

  describe("canceling what is not there", () => {
    test("is refused: one that has ended, and one that never was", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { argv: ["true"] })
      await run.ended()

      expect(await refusal(run.execution.cancel())).toMatchObject({
        reason: "WRONG_STATE",
        details: { state: "ended" },
      })
      for (const type of ["PAUSE", "RESUME", "CANCEL"] as const) {
        const unknown = client.call("control", { type, execution_id: "a".repeat(26) })
        expect(await refusal(unknown)).toMatchObject({ reason: "PROCESS_NOT_FOUND" })
      }
    })
  })
})

describeEachContainment("with a grace of a second", (containment) => {
  const shared = sharedService({ flags: { containment, grace: "1s" } })

  describe("a tree that ignores SIGTERM", () => {
    test("is killed when its grace is over, and the answer says so of each process", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("ignore-sigterm.sh"))
      const members = [await run.untilProcess("leader"), await run.untilProcess("child")]

      const startedMs = performance.now()
      const { processes, survivors } = await run.execution.cancel()
      const tookMs = performance.now() - startedMs

      expect(tookMs).toBeGreaterThanOrEqual(1000)
      expect(tookMs).toBeLessThan(20_000)
      expect(survivors).toEqual([])
      expect(new Set(pidsOf(processes))).toEqual(new Set(pidsOf(members)))
      for (const { signal, ms } of processes) {
        expect(signal).toBe("SIGKILL")
        expect(ms).toBeGreaterThanOrEqual(1000)
      }
      const completed = await run.ended()
      expect(completed).toMatchObject({ outcome: "stopped", cause: "client", signal: "SIGKILL" })
      expect((await run.receipt()).stopped).toEqual(processes)
      await expectNothingLeft(service, run.id, members)
    })

    test("answers everybody who cancels it with the same report", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("ignore-sigterm.sh"))
      await run.untilProcess("leader")

      const [first, second] = await Promise.all([run.execution.cancel(), run.execution.cancel()])

      expect(first.processes).toHaveLength(2)
      expect(second).toEqual(first)
      await run.ended()
      await expectNothingLeft(service, run.id)
    })
  })

  describe("a tree of many short-lived processes", () => {
    test("is canceled completely", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("fork-storm.sh", `${loops}`))
      await run.untilProcess("leader")
      await until("all loops fork", () => markedBy(run.id).length > loops)

      const startedMs = performance.now()
      const { processes, survivors } = await run.execution.cancel()
      const tookMs = performance.now() - startedMs

      expect(survivors).toEqual([])
      expect(processes.length).toBeGreaterThan(loops * 0.8)
      expect(tookMs).toBeLessThan(20_000)
      await run.ended()
      await expectNothingLeft(service, run.id)
    }, 60_000)
  })
})

function pidsOf(processes: Array<{ pid: number }>): number[] {
  return processes.map(({ pid }) => pid)
}
