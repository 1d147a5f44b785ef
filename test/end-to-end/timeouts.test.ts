import { describe, expect, test } from "bun:test"
import { describeAContainment } from "../support/each-containment.ts"
import { expectNothingLeft } from "../support/real-processes.ts"
import { executable, Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

const politely =
  "exec 2>/dev/null; trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done"

describeAContainment("in a service with no timeout of its own", (containment) => {
  const shared = sharedService({ flags: { containment } })
  const impatient = sharedService({ flags: { containment, grace: "700ms" } })

  describe("an execution that runs past its timeout", () => {
    test("is stopped with its tree, and named as timed out", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { ...fixture("busy-tree.sh"), timeout: 0.5 })
      const members = [await run.untilProcess("leader"), await run.untilProcess("grandchild")]

      const completed = await run.ended()

      expect(completed).toMatchObject({
        status: "failed",
        outcome: "stopped",
        cause: "wall-timeout",
        exit_code: null,
        signal: "SIGTERM",
      })
      expect(completed.execution_time).toBeGreaterThanOrEqual(0.5)
      expect(completed.execution_time).toBeLessThan(1.5)
      const { outcome, stopped } = await run.receipt()
      expect(outcome).toMatchObject({ kind: "stopped", cause: "wall-timeout" })
      expect(stopped).toHaveLength(4)
      await expectNothingLeft(service, run.id, members)
    })

    test("never looks like success, even when it ends itself with exit code 0", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { ...shell(politely), timeout: 0.3 })

      const completed = await run.ended()

      expect(run.text).toBe("ready\nbye\n")
      expect(completed).toMatchObject({
        status: "failed",
        outcome: "stopped",
        cause: "wall-timeout",
      })
      const list = await client.call("list", {})
      expect(
        list.executions.find(({ execution_id }) => execution_id === run.id)?.ending,
      ).toMatchObject({ outcome: "stopped", cause: "wall-timeout" })
      await expectNothingLeft(service, run.id)
    })

    test("is killed when it ignores the signal", async () => {
      const service = impatient()
      await using client = await clientOf(service)
      const run = await Steered.start(client, { ...fixture("ignore-sigterm.sh"), timeout: 0.3 })

      const completed = await run.ended()

      expect(completed).toMatchObject({
        status: "failed",
        outcome: "stopped",
        cause: "wall-timeout",
        signal: "SIGKILL",
      })
      await expectNothingLeft(service, run.id)
    })
  })

  describe("the exit code of a command line that ran into its timeout", () => {
    test("is 124, whatever the command itself made of it", async () => {
      const service = shared()
      const run = ["run", "--url", await service.url(), "--timeout", "300ms", "--", "sh", "-c"]

      const command = Bun.spawn([executable, ...run, politely], { stdout: "pipe", stderr: "pipe" })
      const said = await command.stdout.text()

      expect(await command.exited).toBe(124)
      expect(said).toBe("ready\nbye\n")
    })
  })

  describe("an execution with an idle timeout", () => {
    test("is stopped after silence, and not before", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "for i in 1 2 3 4 5; do echo $i; sleep 0.2; done; exec sleep 1000"
      const run = await Steered.start(client, { ...shell(script), idle_timeout: 0.6 })

      const completed = await run.ended()

      expect(run.text).toBe("1\n2\n3\n4\n5\n")
      expect(completed).toMatchObject({
        status: "failed",
        outcome: "stopped",
        cause: "idle-timeout",
        exit_code: null,
      })
      expect(completed.execution_time).toBeGreaterThanOrEqual(1.4)
      await expectNothingLeft(service, run.id)
    })

    test("is kept by input as well as by output", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const quiet = { ...shell("exec cat >/dev/null"), stdin: "pipe", idle_timeout: 0.5 } as const
      const run = await Steered.start(client, quiet)

      const untilMs = performance.now() + 1500
      while (performance.now() < untilMs) {
        await run.execution.write("x")
        await Bun.sleep(100) // somebody who types
      }
      expect((await run.status()).state).toBe("running")
      const completed = await run.ended()

      expect(completed).toMatchObject({ outcome: "stopped", cause: "idle-timeout" })
      expect(completed.execution_time).toBeGreaterThanOrEqual(1.9)
    })

    test("is not idle while the child still takes what it was sent", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const slow =
        "for i in $(seq 16); do sleep 0.3; head -c 65536 >/dev/null; done; cat >/dev/null"
      const params = { ...shell(slow), stdin: "pipe", idle_timeout: 3 } as const
      const run = await Steered.start(client, params)

      await run.execution.write(new Uint8Array(1_048_576))
      await run.execution.end()

      expect(await run.ended()).toMatchObject({ outcome: "exited", exit_code: 0 })
    })

    test("does not grow idle while it is paused", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, {
        ...shell("echo ready; exec sleep 1000"),
        idle_timeout: 0.5,
      })
      await run.untilLine(/^ready$/)

      await run.execution.pause()
      await Bun.sleep(1000) // twice its timeout
      expect((await run.status()).state).toBe("paused")
      const resumedMs = performance.now()
      await run.execution.resume()
      const completed = await run.ended()

      expect(completed).toMatchObject({ outcome: "stopped", cause: "idle-timeout" })
      expect(performance.now() - resumedMs).toBeLessThan(20_000)
      await expectNothingLeft(service, run.id)
    })
  })

  describe("a timeout and a cancel at about the same time", () => {
    test("end it with the cause that came first", async () => {
      const service = impatient()
      await using client = await clientOf(service)
      const canceledFirst = await Steered.start(client, {
        ...fixture("ignore-sigterm.sh"),
        timeout: 1,
      })
      const timedOutFirst = await Steered.start(client, {
        ...fixture("ignore-sigterm.sh"),
        timeout: 0.3,
      })
      await canceledFirst.untilProcess("leader")

      await canceledFirst.execution.cancel()
      await until("the other has timed out", async () =>
        ["stopping", "draining", "ended"].includes((await timedOutFirst.status()).state),
      )
      await timedOutFirst.execution.cancel().catch(() => undefined) // it may have ended

      expect(await canceledFirst.ended()).toMatchObject({ cause: "client" })
      expect(await timedOutFirst.ended()).toMatchObject({ cause: "wall-timeout" })
    })
  })
})

describe("the timeout of the service", () => {
  test("is for requests that name none", async () => {
    await using service = await Service.start({ flags: { timeout: "300ms" } })
    await using client = await clientOf(service)

    const runs = await Promise.all([
      Steered.start(client, { argv: ["sleep", "1000"] }),
      Steered.start(client, { argv: ["sleep", "0.6"], timeout: 100 }),
    ])
    const [cut, whole] = await Promise.all(runs.map((run) => run.ended()))

    expect(cut).toMatchObject({ outcome: "stopped", cause: "wall-timeout" })
    expect(whole).toMatchObject({ outcome: "exited", exit_code: 0 })
  })
})
