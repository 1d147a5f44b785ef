import { describe, expect, test } from "bun:test"
import { fixture } from "../support/independent-run.ts"
import { RawSession } from "../support/raw-session.ts"
import { sharedService } from "../support/shared-service.ts"
import { bearing, makeToken } from "../support/tokens.ts"
import { digestOf, runStep, runTrial, statementOf, TrialGround } from "../support/trials.ts"
import { until } from "../support/until.ts"

const service = sharedService()

async function openSession(name?: string, scope = "execute,control,read,attest") {
  if (name === undefined) return RawSession.open(await service().url())
  const token = await makeToken(service().stateDir, { name, scope })
  return RawSession.open(await service().url(), bearing(token))
}

function unixUrl(): string {
  return `ws+unix://${service().stateDir}/gateway.sock:/ws/mcp`
}

describe("a step is not started", () => {
  test("with other words, elsewhere, with other variables, out of order, or twice", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const { trial } = await runner.call("trial.begin", ground.request())
    const before = await runner.call("trial.status", { trial })
    const green = { trial, role: "green" }
    const red = { trial, role: "red" }

    for (const [request, why] of [
      [{ ...red, command: "true" }, 'red "red" was announced with the check "test -e done"'],
      [{ ...red, argv: ["bash", "-c", "test -e done"] }, "announced with the check"],
      [{ ...red, cwd: "/" }, "was announced to run in"],
      [{ ...red, env: { PATH: "/tmp" } }, "no environment variables"],
      [{ ...red, stdin: "pipe" }, "no standard input"],
      [{ trial, role: "guard" }, "no step with the role guard was announced"],
      [{ trial, step: "other" }, 'no step "other" was announced'],
      [{ trial, step: "red", role: "green" }, "was announced as red, not as green"],
      [green, 'red "red" comes first, and has not run yet'],
      [{ trial, role: "act" }, 'red "red" comes first, and has not run yet'],
    ] as const) {
      const refused = await runner.refused("execute", request)
      expect([refused.data.reason, refused.message]).toEqual(["NOT_ANNOUNCED", refused.message])
      expect(refused.message).toContain(why)
    }
    expect(await runner.call("trial.status", { trial })).toEqual(before)
    await runStep(runner, trial, "red", { command: "test -e done", cwd: ground.directory })
    const act = await runner.refused("execute", { trial, role: "act", argv: ["touch", "other"] })
    expect(act.message).toContain("was announced with the command")
    const twice = await runner.refused("execute", red)
    expect(twice.message).toContain("each runs only once")
    await runStep(runner, trial, "act", { argv: ["sh", "-c", "touch done"] })
    await runner.call("execute", { trial, role: "green" })
    await until("it can be judged", async () => {
      const answer = await runner.response(runner.request("trial.end", { trial }))
      return "result" in answer ? true : undefined
    })
    expect((await runner.call("trial.status", { trial })).verdict).toBe("PASSED")
  })

  test("of somebody else's trial, and of none", async () => {
    using alice = await openSession("alice")
    using bob = await openSession("bob")
    using ground = new TrialGround()
    const { trial } = await alice.call("trial.begin", ground.request())

    for (const [method, params] of [
      ["execute", { trial, role: "red" }],
      ["trial.renew", { trial }],
      ["trial.end", { trial }],
      ["trial.status", { trial }],
    ] as const) {
      const refused = await bob.refused(method, params)
      const none = await bob.refused(method, { ...params, trial: "a".repeat(26) })
      expect(refused.data.reason).toBe("TRIAL_NOT_FOUND")
      expect(refused.message.replace(trial, "")).toBe(none.message.replace("a".repeat(26), ""))
    }
    const { path } = ground.work
    expect(await bob.call("trial.list", { path })).toEqual({ trials: [], head: null })
    expect((await bob.call("trial.begin", ground.request())).sequence).toBe(1)
    expect((await alice.call("trial.begin", ground.request())).sequence).toBe(2)
  })
})

describe("without the scope `attest`", () => {
  test("nothing is announced", async () => {
    using runner = await openSession("carol", "execute,control,read")
    using ground = new TrialGround()
    const refused = await runner.refused("trial.begin", ground.request())
    expect(refused.data).toMatchObject({ reason: "FORBIDDEN", scope: "attest" })
  })
})

describe("it proves nothing", () => {
  test("when the act prints a marker, or it stands in the check as text", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const forged = "MARKER_20261118_143022_abcdefghijklmnopqrstuvwxyz end exit 0"
    const check = `echo '${forged}'; kill -9 $PPID`

    const ended = await runTrial(runner, ground.request(ground.steps(`echo '${forged}'`, check)))

    expect(ended.verdict).not.toBe("PASSED")
    const { steps } = statementOf(ended.envelope).predicate.trial
    expect(steps.map(({ marker_found }) => marker_found)).toEqual(["none", null, "none"])
  })

  test("when a check says another end than its own", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const check = "(sleep 0.3; echo $CC_EXECUTOR_MARKER end exit 0) & exit 1"
    const ended = await runTrial(runner, ground.request(ground.steps("touch done", check)))
    expect(ended).toMatchObject({ verdict: "BROKEN" })
    expect(ended.reasons.join()).toContain("another end than exit 1")
  })

  test("when a label names a trial", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const { trial } = await runner.call("trial.begin", ground.request())
    const labels = { trial, role: "green", step: "green" }
    const { id } = await runner.run({ command: "true", labels })

    const { verdict, envelope } = await runner.call("trial.end", { trial })

    expect(verdict).toBe("BROKEN")
    expect(JSON.stringify(statementOf(envelope))).not.toContain(id)
    expect((await runner.call("status", { execution_id: id })).trial).toBeUndefined()
  })
})

describe("whatever a trial starts", () => {
  const asks = fixture("ask-for-trial.ts")

  /** What an act hears that runs these words. */
  async function heardBy(act: string[], runner: RawSession): Promise<string> {
    using ground = new TrialGround()
    const cwd = ground.directory
    const path = ground.work.path
    const argv = act.map((word) => (word === "PATH" ? path : word))
    const steps = [{ id: "act", role: "act" as const, cwd, argv }]
    const { trial } = await runner.call("trial.begin", ground.request(steps))
    const id = await runStep(runner, trial, "act")
    await runner.call("trial.end", { trial })
    const said = runner.allHeard("process.output", id)
    const { trials } = await runner.call("trial.list", { path })
    expect(trials).toHaveLength(1)
    return said.map(({ data }) => data).join("")
  }

  const forbidden = '"scope":"attest"'
  const socket = () => `${service().stateDir}/gateway.sock`

  test("announces nothing over the unix socket, while its runner goes on there", async () => {
    using runner = await RawSession.open(unixUrl())
    expect(await heardBy([...asks, unixUrl(), "PATH"], runner)).toContain(forbidden)
  })

  test("announces nothing by HTTP over the unix socket", async () => {
    using runner = await RawSession.open(unixUrl())
    const act = [...asks, "http://localhost", "PATH", socket()]
    expect(await heardBy(act, runner)).toContain(forbidden)
  })

  test("announces nothing over loopback, by WebSocket or HTTP", async () => {
    using runner = await openSession()
    const url = await service().url()
    expect(await heardBy([...asks, url, "PATH"], runner)).toContain(forbidden)
    const http = await service().url("")
    expect(await heardBy([...asks, http, "PATH"], runner)).toContain(forbidden)
  })

  test("announces nothing from another session, with an empty environment", async () => {
    using runner = await RawSession.open(unixUrl())
    const act = ["setsid", "-w", "env", "-i", ...asks, unixUrl(), "PATH"]
    expect(await heardBy(act, runner)).toContain(forbidden)
  })

  test("announces nothing by what it has the service start", async () => {
    using runner = await RawSession.open(unixUrl())
    const asking = [...asks, unixUrl(), "PATH"]
    const act = [...asks, unixUrl(), "PATH", "execute", ...asking]
    const heard = await heardBy(act, runner)
    expect(heard).toContain('"status":"started"')
    expect(heard).toContain(forbidden)
  })

  test("ends and renews nothing, and starts no step", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const { directory: cwd, work } = ground
    const stays = [...asks, unixUrl(), work.path, "stay"]
    const steps = [{ id: "act", role: "act" as const, cwd, argv: stays }]
    const { trial } = await runner.call("trial.begin", ground.request(steps))
    const { execution_id } = await runner.call("execute", { trial, role: "act" })
    await runner.heard("process.output", execution_id)

    using beside = await RawSession.open(unixUrl())

    // The act is connected as well, by the same socket: who asks is told apart.
    expect(await beside.call("trial.renew", { trial })).toEqual({ lease_ms: 60_000 })
    const other = await beside.call("trial.begin", ground.request())
    expect(other.sequence).toBe(2)
    const early = await beside.refused("trial.end", { trial })
    expect(early.message).toContain('its step "act" has not ended')
    await beside.call("control", { type: "CANCEL", execution_id })
    expect((await beside.call("trial.end", { trial })).verdict).toBe("FAILED")
  })
})

test("a receipt says which step of which trial it is of", async () => {
  using runner = await openSession()
  using ground = new TrialGround()
  const { trial } = await runner.call("trial.begin", ground.request())
  const id = await runStep(runner, trial, "red")
  const { payload } = await runner.call("receipt", { execution_id: id })
  const receipt = JSON.parse(Buffer.from(payload, "base64").toString("utf8"))
  expect(receipt.trial).toEqual({ id: trial, step: "red", role: "red" })
  expect(receipt.spec.envNames).toEqual(["CC_EXECUTOR_MARKER"])
  const other = { ...ground.request(), version: digestOf("v2") }
  expect((await runner.call("trial.begin", other)).sequence).toBe(2)
})
