import { describe, expect, test } from "bun:test"
import { RawSession } from "../support/raw-session.ts"
import { sharedService } from "../support/shared-service.ts"
import { digestOf, runTrial, statementOf, TrialGround } from "../support/trials.ts"

const service = sharedService()

async function session() {
  return RawSession.open(await service().url())
}

describe("a trial", () => {
  test("passes when its check failed before the act, and passes after it", async () => {
    using runner = await session()
    using ground = new TrialGround()

    const ended = await runTrial(runner, ground.request())

    expect(ended).toMatchObject({ verdict: "PASSED" })
    const { subject, predicate } = statementOf(ended.envelope)
    expect(subject).toEqual([{ name: ground.name, digest: { sha256: digestOf("v1") } }])
    expect(predicate).toMatchObject({ result: "PASSED", passedTests: ["red", "act", "green"] })
    const [red, act, green] = predicate.trial.steps
    expect(red).toMatchObject({ finding: "right", exit: 1, marker_found: "seen" })
    expect(act).toMatchObject({ finding: "right", exit: 0, marker: null })
    expect(green).toMatchObject({ finding: "right", exit: 0, marker_found: "seen" })
    expect(red?.marker).toMatch(/^MARKER_\d{8}_\d{6}_[a-z2-7]{26}$/)
    expect(green?.marker).not.toBe(red?.marker)
  })

  test.each([
    ["a check that cannot fail", "touch done", "test -e done || true", "WARNED"],
    ["an act that does nothing", "true", "test -e done", "FAILED"],
    ["an act that fails", "touch done; exit 3", "test -e done", "FAILED"],
    ["a check whose program is missing", "touch done", "no-such-program-anywhere", "BROKEN"],
    ["a check that ends itself", "touch done", "test -e done; kill -9 $PPID", "BROKEN"],
  ])("with %s", async (_, act, check, verdict) => {
    using runner = await session()
    using ground = new TrialGround()
    expect(await runTrial(runner, ground.request(ground.steps(act, check)))).toMatchObject({
      verdict,
    })
  })

  test("has one verdict, however often it is asked for", async () => {
    using runner = await session()
    using ground = new TrialGround()
    const first = await runTrial(runner, ground.request())
    const again = await runner.call("trial.end", { trial: first.trial })
    expect(again).toEqual(first)
    expect((await runner.refused("trial.renew", { trial: first.trial })).data.reason).toBe(
      "WRONG_STATE",
    )
  })
})
