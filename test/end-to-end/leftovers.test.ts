import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { commandLine } from "../../src/service/os/proc.ts"
import { signalProcess } from "../../src/service/os/signals.ts"
import { describeEachContainment } from "../support/each-containment.ts"
import {
  descendantsOf,
  expectNothingLeft,
  isStillThere,
  markedBy,
  outputsOf,
  zombiesOf,
} from "../support/real-processes.ts"
import { Service } from "../support/service.ts"
import { sharedService } from "../support/shared-service.ts"
import { clientOf, fixture, Steered, shell } from "../support/steered.ts"
import { until } from "../support/until.ts"

const lingerMs = 500

describeEachContainment("with a linger of half a second", (containment) => {
  const shared = sharedService({
    flags: { containment, linger: `${lingerMs}ms`, grace: "1s" },
  })

  describe("a leader that forks away and exits", () => {
    test("keeps its own exit code; what it left is ended after the linger, and named", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("fork-and-exit.sh", "3"))
      const child = await run.untilProcess("child")

      const completed = await run.ended()

      expect(completed).toMatchObject({ outcome: "exited", exit_code: 3, status: "failed" })
      const { killed_after_exit, stopped, survivors } = await run.receipt()
      expect(killed_after_exit).toMatchObject([{ pid: child.pid, signal: "SIGTERM" }])
      expect({ stopped, survivors }).toEqual({ stopped: [], survivors: [] })
      await expectNothingLeft(service, run.id, [child])
    })
  })

  describe("a daemon", () => {
    for (const [what, prefix] of [
      ["with its environment", ""],
      ["that has emptied its environment", "env -i"],
    ] as const) {
      test(`${what} ends with the execution that it left`, async () => {
        const service = shared()
        await using client = await clientOf(service)
        const run = await Steered.start(client, fixture("daemonize.sh", prefix))
        const daemon = await run.untilProcess("daemon")

        const completed = await run.ended()

        expect(completed).toMatchObject({ outcome: "exited", exit_code: 0, status: "completed" })
        const { killed_after_exit: killed } = await run.receipt()
        expect(killed).toMatchObject([{ pid: daemon.pid, signal: "SIGTERM" }])
        await expectNothingLeft(service, run.id, [daemon])
      })
    }

    test("that ends in time by itself is nobody's victim", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const script = "(setsid sh -c 'sleep 0.1; echo last words' &) ; exit 0"
      const run = await Steered.start(client, { argv: ["sh", "-c", script] })

      const completed = await run.ended()

      expect(completed).toMatchObject({ outcome: "exited", exit_code: 0 })
      expect(run.text).toBe("last words\n")
      expect((await run.receipt()).killed_after_exit).toEqual([])
      await expectNothingLeft(service, run.id)
    })

    test("whose origin nobody knows ends with the last execution it may belong to", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const other = await Steered.start(client, { argv: ["sleep", "1000"] })
      const run = await Steered.start(client, fixture("daemon-family.sh"))
      const family = [await run.untilProcess("daemon"), await run.untilProcess("child")]
      await run.execution.cancel()
      expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "client" })

      await other.execution.cancel()
      await other.ended()

      await until("the whole family is gone", () => !family.some(isStillThere))
      await expectNothingLeft(service, run.id, family)
    })

    test("is ended with its family when all it may belong to end at once", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const other = await Steered.start(client, { argv: ["sleep", "1000"] })
      const run = await Steered.start(client, fixture("daemon-family.sh"))
      const family = [await run.untilProcess("daemon"), await run.untilProcess("child")]

      await Promise.all([run.execution.cancel(), other.execution.cancel()])

      await Promise.all([run.ended(), other.ended()])
      await until("the whole family is gone", () => !family.some(isStillThere))
      await expectNothingLeft(service, run.id, family)
    })
  })

  describe("a grandchild that holds the pipe", () => {
    test("does not hold up the end for longer than the linger", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("hold-pipe.sh"))
      const grandchild = await run.untilProcess("grandchild")

      const startedMs = performance.now()
      const completed = await run.ended()

      expect(performance.now() - startedMs).toBeLessThan(lingerMs + 20_000)
      expect(completed).toMatchObject({ outcome: "exited", exit_code: 0, status: "completed" })
      const { killed_after_exit: killed } = await run.receipt()
      expect(killed).toMatchObject([{ pid: grandchild.pid, signal: "SIGTERM" }])
      await expectNothingLeft(service, run.id, [grandchild])
    })

    test("may be canceled during the linger; the outcome stays the leader's", async () => {
      await using service = await Service.start({ flags: { containment, linger: "1h" } })
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("hold-pipe.sh"))
      const grandchild = await run.untilProcess("grandchild")
      await until("it is draining", async () => (await run.status()).state === "draining")

      const { processes } = await run.execution.cancel()

      expect(processes).toMatchObject([{ pid: grandchild.pid, signal: "SIGTERM" }])
      expect(await run.ended()).toMatchObject({ outcome: "exited", exit_code: 0, cause: null })
      await expectNothingLeft(service, run.id, [grandchild])
    })
  })

  describe("a child that closes its output and lives on", () => {
    test("is still running, and ends when it ends", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const goAhead = join(service.stateDir, "go-ahead")
      const run = await Steered.start(client, fixture("close-output.sh", goAhead))
      const leader = await run.untilProcess("leader")
      await until("both pipes are closed", () => outputsOf(leader.pid) === 0)

      expect((await run.status()).state).toBe("running")
      await Bun.write(goAhead, "")

      expect(await run.ended()).toMatchObject({ outcome: "exited", exit_code: 7 })
      await expectNothingLeft(service, run.id, [leader])
    })

    test("can be canceled", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("close-output.sh", "/nowhere"))
      const leader = await run.untilProcess("leader")
      await until("both pipes are closed", () => outputsOf(leader.pid) === 0)

      await run.execution.cancel()

      expect(await run.ended()).toMatchObject({ outcome: "stopped", cause: "client" })
      await expectNothingLeft(service, run.id, [leader])
    })
  })

  describe("a hundred orphans that end by themselves", () => {
    test("leave no zombie to the service, which has adopted them", async () => {
      const service = shared()
      await using client = await clientOf(service)
      const run = await Steered.start(client, fixture("orphans.sh", "100"))
      await run.untilLine(/^done$/)

      const { pid } = run.leader
      await until("the last has ended", () => markedBy(run.id).every((one) => one === pid))

      await until("all are reaped", () => zombiesOf(service.pid).length === 0)
      const { processes } = await run.execution.cancel()
      expect(processes).toMatchObject([{ pid }])
      await run.ended()
      await until("nobody is left to reap", () => zombiesOf(service.pid).length === 0)
      await expectNothingLeft(service, run.id)
    })
  })
})

describeEachContainment("a process that was there before the service", (containment) => {
  test("is nobody's child, and lives on when executions end", async () => {
    // What an entrypoint starts before it becomes the service is the service's child from then on.
    const entrypoint = `sleep 1000 & setsid sh -c 'sleep 1000 & wait' & exec "$0" "$@"`
    await using service = await Service.start({
      flags: { containment, linger: "100ms" },
      prefix: ["sh", "-c", entrypoint],
    })
    await using client = await clientOf(service)
    const bystanders = await until("three bystanders", () => {
      const found = descendantsOf(service.pid).filter(({ pid }) =>
        commandLine(pid).includes("sleep"),
      )
      return found.length === 3 && found
    })

    const runs = [shell("sleep 0.1"), fixture("hold-pipe.sh")]
    for (const params of runs) await (await Steered.start(client, params)).ended()
    await Promise.all(runs.map(async (params) => (await Steered.start(client, params)).ended()))

    expect(bystanders.filter(isStillThere)).toEqual(bystanders)
    for (const bystander of bystanders) signalProcess(bystander, 9)
  })
})
