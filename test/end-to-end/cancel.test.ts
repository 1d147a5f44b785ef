import { describe, expect, test } from "bun:test"
import { readStat } from "../../src/service/os/proc.ts"
import { describeEachContainment } from "../support/each-containment.ts"
import { expectNothingLeft, markedBy } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { Service } from "../support/service.ts"
import { StalledClient } from "../support/stalled-client.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

describeEachContainment("a flood with one client that reads and one that has stalled", (mode) => {
  test("is canceled without any wait for its grace, and nothing of it is left", async () => {
    await using service = await Service.start({ flags: { containment: mode, grace: "1m" } })
    await using client = await clientOf(service)
    const execution = await client.execute({ argv: ["yes"] }, { output: "ignore" })
    using _stalled = await StalledClient.attach(await service.url(), execution.id)
    const bytes = async () =>
      (await client.call("status", { execution_id: execution.id })).bytes.stdout
    await until("the flood is under way", async () => (await bytes()) > 50_000_000)

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

describeEachContainment("a tree that ignores SIGTERM", (containment) => {
  test("is killed when its grace is over, and the answer says so of each process", async () => {
    await using service = await Service.start({ flags: { containment, grace: "1s" } })
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
    await using service = await Service.start({ flags: { containment, grace: "200ms" } })
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

describeEachContainment("a tree of many short-lived processes", (containment) => {
  test("is canceled completely", async () => {
    await using service = await Service.start({ flags: { containment, grace: "1s" } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("fork-storm.sh"))
    await run.untilProcess("leader")
    await until("all fifty loops fork", () => markedBy(run.id).length > 50)

    const startedMs = performance.now()
    const { processes, survivors } = await run.execution.cancel()
    const tookMs = performance.now() - startedMs

    expect(survivors).toEqual([])
    expect(processes.length).toBeGreaterThan(40)
    expect(tookMs).toBeLessThan(20_000)
    await run.ended()
    await expectNothingLeft(service, run.id)
  }, 60_000)
})

describeEachContainment("a child that has suspended itself", (containment) => {
  test("is woken to meet the polite signal", async () => {
    await using service = await Service.start({ flags: { containment, grace: "1m" } })
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

describeEachContainment("a child that ends well when it is canceled", (containment) => {
  test("has failed all the same, with the exit code it gave", async () => {
    await using service = await Service.start({ flags: { containment } })
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
    await using service = await Service.start()
    await using client = await clientOf(service)
    const nothing = await refusal(client.call("control", { type: "CANCEL" }))
    expect(nothing).toMatchObject({ reason: "PROCESS_NOT_FOUND" })
    const first = await Steered.start(client, { argv: ["sleep", "1000"] })
    const latest = await Steered.start(client, { argv: ["sleep", "1000"] })

    const canceled = await client.call("control", { type: "CANCEL" })

    expect(canceled).toMatchObject({ status: "canceled", execution_id: latest.id })
    expect((await first.status()).state).toBe("running")
  })
})

describeEachContainment("canceling what is not there", (containment) => {
  test("is refused: one that has ended, and one that never was", async () => {
    await using service = await Service.start({ flags: { containment } })
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

function pidsOf(processes: Array<{ pid: number }>): number[] {
  return processes.map(({ pid }) => pid)
}
