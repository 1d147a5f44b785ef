import { describe, expect, setDefaultTimeout, test } from "bun:test"
import { existsSync } from "node:fs"
import { buildNextVersion } from "../support/next-version.ts"
import { RawSession } from "../support/raw-session.ts"
import { Service } from "../support/service.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { runStep, statementOf, TrialGround } from "../support/trials.ts"
import { until } from "../support/until.ts"
import { upgraded } from "../support/upgraded.ts"

setDefaultTimeout(60_000)

const long = "test -e done; touch started; sleep 600"

async function verdictOf(session: RawSession, trial: string) {
  return until("it is judged", async () => {
    const { verdict, envelope } = await session.call("trial.status", { trial })
    return verdict === null || envelope === null ? undefined : statementOf(envelope).predicate.trial
  })
}

describe("a trial whose runner is gone", () => {
  test("is lost with its lease: what ran is ended, and all of it attested", async () => {
    await using service = await Service.start()
    using runner = await RawSession.open(await service.url())
    using ground = new TrialGround()
    const steps = ground.steps("touch started; sleep 600")
    const request = { ...ground.request(steps), lease_ms: 1000 }
    const { trial } = await runner.call("trial.begin", request)
    await runStep(runner, trial, "red")
    const { execution_id } = await runner.call("execute", { trial, role: "act" })
    await until("the act runs", () => existsSync(`${ground.directory}/started`) || undefined)

    const lost = await verdictOf(runner, trial)

    expect(lost).toMatchObject({ verdict: "LOST" })
    expect(lost.reasons[0]).toBe("nobody renewed its lease of 1 s")
    expect(lost.steps.map(({ receipt }) => receipt !== null)).toEqual([true, true, false])
    const { state, ending } = await runner.call("status", { execution_id })
    expect([state, ending?.cause]).toEqual(["ended", "disconnected"])
    const again = await runner.call("trial.end", { trial })
    expect(again.verdict).toBe("LOST")
    const late = await runner.refused("execute", { trial, role: "green" })
    expect(late.message).toContain("has ended as LOST")
  })

  test("stays open as long as it is renewed", async () => {
    await using service = await Service.start()
    using runner = await RawSession.open(await service.url())
    using ground = new TrialGround()
    const request = { ...ground.request(), lease_ms: 1000 }
    const kept = await runner.call("trial.begin", request)
    const left = await runner.call("trial.begin", request)

    // The one that nobody renews is the clock of the other.
    await until("the other is lost", async () => {
      await runner.call("trial.renew", { trial: kept.trial })
      const { verdict } = await runner.call("trial.status", { trial: left.trial })
      return verdict === "LOST" || undefined
    })

    expect((await runner.call("trial.status", { trial: kept.trial })).verdict).toBeNull()
  })

  test("stays open while the execution that runs it is paused", async () => {
    await using service = await Service.start()
    using session = await RawSession.open(await service.url())
    using ground = new TrialGround()
    const { execution_id: runner } = await session.call("execute", { argv: ["sleep", "1000"] })
    await session.call("control", { execution_id: runner, type: "PAUSE" })
    const request = { ...ground.request(), lease_ms: 1000 }
    const { trial } = await session.call("trial.begin", { ...request, runner })
    const left = await session.call("trial.begin", request)
    const verdict = async (one: string) =>
      (await session.call("trial.status", { trial: one })).verdict

    await until("the other is lost", async () => (await verdict(left.trial)) === "LOST")
    expect(await verdict(trial)).toBeNull()

    await session.call("control", { execution_id: runner, type: "RESUME" })
    await until("it is lost, too", async () => (await verdict(trial)) === "LOST")
  })
})

describe("a service that is killed", () => {
  test("during green leaves a failure, and keeps what stands between steps open", async () => {
    using folder = temporaryFolder()
    using ground = new TrialGround()
    const state = { stateDir: folder.path }
    await using killed = await Service.start(state)
    const before = await RawSession.open(await killed.url())
    const steps = ground.steps("touch done", long)
    const { trial } = await before.call("trial.begin", ground.request(steps))
    using other = new TrialGround("T02_between")
    const between = await before.call("trial.begin", other.request())
    await runStep(before, between.trial, "red")
    const judged = await before.call("trial.begin", ground.request(ground.steps("true")))
    const ended = await before.call("trial.end", { trial: judged.trial })
    for (const step of ["red", "act"]) await runStep(before, trial, step)
    await before.call("execute", { trial, role: "green" })
    await until("the check runs", () => existsSync(`${ground.directory}/started`) || undefined)
    killed.kill("SIGKILL")
    await killed.exited

    await using service = await Service.start(state)
    using runner = await RawSession.open(await service.url())

    const lost = await verdictOf(runner, trial)
    expect(lost).toMatchObject({ verdict: "LOST" })
    expect(lost.reasons[0]).toBe('the service ended while its step "green" ran')
    expect(await runner.call("trial.end", { trial: judged.trial })).toEqual(ended)
    await runStep(runner, between.trial, "act")
    await runStep(runner, between.trial, "green")
    expect((await runner.call("trial.end", { trial: between.trial })).verdict).toBe("PASSED")
    const { trials } = await runner.call("trial.list", { path: ground.work.path })
    expect(trials.map(({ announcement }) => announcement.sequence)).toEqual([1, 2])
  })

  test("while it judges keeps one verdict, whoever was told of it", async () => {
    using folder = temporaryFolder()
    using ground = new TrialGround()
    const state = { stateDir: folder.path }
    await using killed = await Service.start(state)
    const before = await RawSession.open(await killed.url())
    const { trial } = await before.call("trial.begin", ground.request())
    for (const step of ["red", "act", "green"]) await runStep(before, trial, step)
    before.request("trial.end", { trial })
    await until("it is in the journal", async () => {
      using beside = await RawSession.open(await killed.url())
      return (await beside.call("trial.status", { trial })).verdict ?? undefined
    })
    killed.kill("SIGKILL")
    await killed.exited

    await using service = await Service.start(state)
    using runner = await RawSession.open(await service.url())

    const first = await runner.call("trial.end", { trial })
    expect(first.verdict).toBe("PASSED")
    expect(await runner.call("trial.end", { trial })).toEqual(first)
  })
})

describe("an upgrade in place", () => {
  test("keeps open trials, and the check that is running", async () => {
    using next = await buildNextVersion()
    await using service = await Service.start()
    using ground = new TrialGround()
    const before = await RawSession.open(await service.url())
    const check = "touch started; until test -e go; do sleep 0.05; done; test -e done"
    const { trial } = await before.call(
      "trial.begin",
      ground.request(ground.steps("touch done", check)),
    )
    await before.call("execute", { trial, role: "red" })
    await until("the check runs", () => existsSync(`${ground.directory}/started`) || undefined)

    await upgraded(service, next.path)

    using runner = await RawSession.open(await service.url())
    await runner.run({ argv: ["touch", `${ground.directory}/go`] })
    const { steps } = await until("red has ended", async () => {
      const status = await runner.call("trial.status", { trial })
      return status.steps[0]?.state === "ended" ? status : undefined
    })
    expect(steps.map(({ state }) => state)).toEqual(["ended", "waiting", "waiting"])
    await runStep(runner, trial, "act")
    await runStep(runner, trial, "green")
    expect((await runner.call("trial.end", { trial })).verdict).toBe("PASSED")
  })
})
