import { expect, test } from "bun:test"
import { readStat } from "../../src/service/os/proc.ts"
import { signalProcess } from "../../src/service/os/signals.ts"
import { describeAContainment, describeEachContainment } from "../support/each-containment.ts"
import { expectNothingLeft, isStillThere, markedBy, ticksOf } from "../support/real-processes.ts"
import { refusal } from "../support/refusal.ts"
import { byScale } from "../support/scale.ts"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

const pauseMs = 2000
/** Of a tree that forks all the time. */
const loops = byScale({ short: 16, full: 50, long: 50 })

describeEachContainment("a paused execution", (containment) => {
  const shared = sharedService({ flags: { containment, linger: "100ms" } })

  test("stands still with its whole tree, clocks included, and then goes on", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const startedMs = performance.now()
    const run = await Steered.start(client, { ...fixture("busy-tree.sh"), timeout: 30 })
    const words = ["leader", "child-one", "child-two", "grandchild"]
    const members = await Promise.all(words.map((word) => run.untilProcess(word)))

    await run.execution.pause()
    const before = ticksOf(members)
    await Bun.sleep(pauseMs) // that this time does not count is the point

    expect(ticksOf(members)).toEqual(before)
    expect((await run.status()).state).toBe("paused")
    await run.execution.resume()
    await until("all of it runs again", () =>
      ticksOf(members).every((ticks, index) => ticks > (before[index] ?? 0)),
    )
    expect((await run.status()).state).toBe("running")
    await run.execution.cancel()
    const completed = await run.ended()
    expect(completed).toMatchObject({ outcome: "stopped", cause: "client" })
    const wholeMs = performance.now() - startedMs
    expect((await run.receipt()).paused_ms).toBeGreaterThanOrEqual(pauseMs)
    expect((completed.execution_time ?? 0) * 1000).toBeLessThan(wholeMs - pauseMs)
    await expectNothingLeft(service, run.id, members)
  }, 60_000)

  test("may be paused and resumed again, and tells each change once", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, shell("echo ready; exec sleep 1000"))
    await run.untilLine(/^ready$/)

    await run.execution.resume()
    await Promise.all([run.execution.pause(), run.execution.pause()])
    await run.execution.pause()
    await Promise.all([run.execution.resume(), run.execution.resume()])
    await run.execution.resume()
    await run.execution.cancel()

    await run.ended()
    const life = run.events.map(({ kind }) => kind).filter((kind) => kind !== "output")
    expect(life).toEqual(["started", "paused", "resumed", "canceled", "completed"])
    await expectNothingLeft(service, run.id)
  })

  test("gets the polite signal of a cancel, and the time to act on it", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const farewell = `trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.01; done`
    const run = await Steered.start(client, shell(farewell))
    await run.untilLine(/^ready$/)
    const { leader } = run

    await run.execution.pause()
    const canceled = await run.execution.cancel()

    expect(canceled.processes).toContainEqual(
      expect.objectContaining({ pid: leader.pid, signal: "SIGTERM" }),
    )
    expect(canceled.survivors).toEqual([])
    const completed = await run.ended()
    expect(completed).toMatchObject({ outcome: "stopped", cause: "client", exit_code: 3 })
    expect(run.text).toContain("bye")
    await expectNothingLeft(service, run.id, [leader])
  })

  test("is not woken by a SIGCONT that somebody sends through it", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("busy-tree.sh"))
    const members = [await run.untilProcess("leader"), await run.untilProcess("grandchild")]

    await run.execution.pause()
    const before = ticksOf(members)
    await run.execution.signal("CONT")
    await Bun.sleep(200) // a tree that runs would have used CPU by now

    expect(ticksOf(members)).toEqual(before)
    await run.execution.resume()
    await until("it runs again", () =>
      ticksOf(members).every((ticks, index) => ticks > (before[index] ?? 0)),
    )
    await run.execution.cancel()
    await expectNothingLeft(service, run.id, members)
  })

  test("leaves a job suspended that was so before", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const script = `sh -c 'echo "job $$"; kill -STOP $$; echo awake' & echo ready; wait`
    const run = await Steered.start(client, shell(script))
    const job = await run.untilProcess("job")
    await until("the job is suspended", () => readStat(job.pid)?.state === "T")

    await run.execution.pause()
    await run.execution.resume()
    const { leader } = run
    await until("the leader is awake", () => readStat(leader.pid)?.state === "S")

    expect(readStat(job.pid)?.state).toBe("T")
    await run.execution.signal("SIGCONT")
    await run.untilLine(/^awake$/)
    expect(await run.ended()).toMatchObject({ status: "completed", exit_code: 0 })
  })

  test("can be killed as it is", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("busy-tree.sh"))
    const members = [await run.untilProcess("leader"), await run.untilProcess("grandchild")]

    await run.execution.pause()
    await run.execution.signal("KILL")

    expect(await run.ended()).toMatchObject({ outcome: "signaled", signal: "SIGKILL" })
    await expectNothingLeft(service, run.id, members)
  })

  test("ends soon when its leader is killed from outside", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("busy-tree.sh"))
    const leader = await run.untilProcess("leader")
    const grandchild = await run.untilProcess("grandchild")
    await run.execution.pause()

    const startedMs = performance.now()
    expect(signalProcess(leader, 9)).toBe(true)
    const completed = await run.ended()

    expect(completed).toMatchObject({ outcome: "signaled", signal: "SIGKILL", exit_code: null })
    expect(performance.now() - startedMs).toBeLessThan(20_000)
    const { killed_after_exit: killed } = await run.receipt()
    expect(killed.map(({ pid }) => pid)).toContain(grandchild.pid)
    await expectNothingLeft(service, run.id, [leader, grandchild])
  })

  test("that forks all the time stands still, and no fork gets away", async () => {
    const service = shared()
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("fork-storm.sh", `${loops}`))
    await run.untilProcess("leader")
    await until("all loops fork", () => markedBy(run.id).length > loops)

    await run.execution.pause()
    const before = markedBy(run.id)
    const ticks = ticksOf(before.map((pid) => ({ pid, startTicks: 0 })))
    await Bun.sleep(500) // many generations of forks

    expect(markedBy(run.id)).toEqual(before)
    expect(ticksOf(before.map((pid) => ({ pid, startTicks: 0 })))).toEqual(ticks)
    const { survivors } = await run.execution.cancel()
    expect(survivors).toEqual([])
    await run.ended()
    await expectNothingLeft(service, run.id)
  })
})

describeEachContainment("a paused execution whose service is killed", (containment) => {
  test("dies with its whole tree all the same", async () => {
    await using service = await Service.start({ flags: { containment } })
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("busy-tree.sh"))
    const members = [await run.untilProcess("leader"), await run.untilProcess("grandchild")]
    await run.execution.pause()

    service.kill("SIGKILL")

    await until("its tree is gone", () => markedBy(run.id).length === 0)
    expect(members.filter(isStillThere)).toEqual([])
  })
})

describeAContainment("pausing in the wrong state", (containment) => {
  test("is refused with the state it is in", async () => {
    const flags = { containment, grace: "500ms", "max-executions": "1" }
    await using service = await Service.start({ flags })
    await using client = await clientOf(service)
    const run = await Steered.start(client, fixture("ignore-sigterm.sh"))
    await run.untilProcess("leader")
    const queued = await Steered.start(client, { argv: ["true"] })

    expect(await refusal(queued.execution.pause())).toMatchObject(inState("queued"))
    expect(await refusal(queued.execution.resume())).toMatchObject(inState("queued"))
    const canceled = run.execution.cancel()
    await until("it is stopping", async () => (await run.status()).state === "stopping")
    expect(await refusal(run.execution.pause())).toMatchObject(inState("stopping"))
    expect(await refusal(run.execution.resume())).toMatchObject(inState("stopping"))
    await canceled
    await run.ended()

    expect(await refusal(run.execution.pause())).toMatchObject(inState("ended"))
    expect(await refusal(run.execution.resume())).toMatchObject(inState("ended"))
    expect(await queued.ended()).toMatchObject({ status: "completed" })
  })
})

function inState(state: string) {
  return { reason: "WRONG_STATE", details: { state } }
}
