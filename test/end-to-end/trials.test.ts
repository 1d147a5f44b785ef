import { describe, expect, test } from "bun:test"
import { createHash, createPublicKey, verify } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { RawSession } from "../support/raw-session.ts"
import { sharedService } from "../support/shared-service.ts"
import { digestOf, runStep, runTrial, statementOf, TrialGround } from "../support/trials.ts"

const service = sharedService()

async function openSession() {
  return RawSession.open(await service().url())
}

describe("a trial", () => {
  test("passes when its check failed before the act, and passes after it", async () => {
    using runner = await openSession()
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

  const check = "test -e done"
  test.each([
    ["a check that cannot fail", "touch done", `${check} || true`, "WARNED"],
    ["a check with a pipe that hides it", "touch done", "false | tee log; true", "WARNED"],
    ["a check with a pipe that does not", "touch done", "ls | grep -qx done", "PASSED"],
    ["an act that does nothing", "true", check, "FAILED"],
    ["an act that fails", "touch done; exit 3", check, "FAILED"],
    ["a check whose program is missing", "touch done", "no-such-program-anywhere", "BROKEN"],
    ["a check that ends itself", "touch done", `${check}; kill -9 $PPID`, "BROKEN"],
    ["a check with its own marker", "touch done", `${check} && echo $CC_EXECUTOR_MARKER`, "PASSED"],
    ["a check without a line end", "touch done", `printf x; ${check}`, "PASSED"],
    ["much output", "touch done", `seq 1 200000; ${check}`, "PASSED"],
  ])("with %s", async (_, act, run, verdict) => {
    using runner = await openSession()
    using ground = new TrialGround()
    const ended = await runTrial(runner, ground.request(ground.steps(act, run)))
    expect({ ...ended, envelope: null }).toMatchObject({ verdict })
    expect(ended.reasons.join()).not.toBe("")
  })

  test("has one verdict, however often it is asked for, over any transport", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const first = await runTrial(runner, ground.request())

    const again = await runner.call("trial.end", { trial: first.trial })
    const url = await service().url(`/trials/${first.trial}/end`)
    const byHttp = await (await fetch(url, { method: "POST" })).json()

    expect(again).toEqual(first)
    expect(byHttp).toEqual(first)
    const renewed = await runner.refused("trial.renew", { trial: first.trial })
    expect(renewed.data.reason).toBe("WRONG_STATE")
  })

  test("is begun once for a key, and shows how far it is", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const request = { ...ground.request(), idempotency_key: ground.directory }
    const begun = await runner.call("trial.begin", request)
    const { trial } = begun

    expect(await runner.call("trial.begin", request)).toEqual({ ...begun, repeated: true })
    const other = { ...request, version: digestOf("v2") }
    const refused = await runner.refused("trial.begin", other)
    expect(refused.data.reason).toBe("IDEMPOTENCY_MISMATCH")
    await runStep(runner, trial, "red")
    const url = await service().url(`/trials/${trial}`)
    const shown = await (await fetch(url)).json()
    expect(shown).toMatchObject({
      verdict: null,
      envelope: null,
      steps: [{ state: "ended" }, { state: "waiting" }, { state: "waiting" }],
    })
    expect(JSON.stringify(shown)).not.toContain("MARKER_")
  })

  test("is judged without the executions that were removed since", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const { trial } = await runner.call("trial.begin", ground.request())
    const red = await runStep(runner, trial, "red")
    const early = await runner.refused("remove", { execution_id: red })
    expect(early.message).toContain("end the trial before")
    await runner.call("trial.end", { trial })
    const { envelope } = await runner.call("trial.status", { trial })

    await runner.call("remove", { execution_id: red })

    expect((await runner.call("trial.status", { trial })).envelope).toEqual(envelope)
    expect((await runner.call("trial.end", { trial })).verdict).toBe("BROKEN")
  })
})

describe("a red at base", () => {
  test("is used again for the same version, tree, place and text, and nothing else", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const [red, ...rest] = ground.steps()
    if (red?.role !== "red") throw new Error("the first step is not red")
    const definition = { tree: "a".repeat(40), steps: [red, ...rest] }
    const first = await runTrial(runner, { ...ground.request(), definition })
    const reuses = statementOf(first.envelope).predicate.trial.steps[0]?.execution_id ?? ""
    await runner.call("remove", { execution_id: reuses })
    const again = { ...definition, steps: [{ ...red, reuses }, ...rest] }

    const second = await runTrial(runner, ground.request([], { definition: again }), [
      "act",
      "green",
    ])

    expect(second.verdict).toBe("PASSED")
    const [reused] = statementOf(second.envelope).predicate.trial.steps
    expect(reused).toMatchObject({ reused: true, execution_id: reuses, exit: 1 })
    for (const other of [
      { ...again, tree: "b".repeat(40) },
      { ...again, steps: [{ ...red, reuses, run: "false" }, ...rest] },
      { ...again, steps: [{ ...red, reuses, red: "empty" as const }, ...rest] },
      { ...again, steps: [{ ...red, reuses: "a".repeat(26) }, ...rest] },
    ]) {
      const refused = await runner.refused("trial.begin", {
        ...ground.request(),
        definition: other,
      })
      expect(refused.data.reason).toBe("NOT_ANNOUNCED")
    }
  })
})

describe("the attestations of a work", () => {
  test("can be verified by who has nothing but the public key", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    await runTrial(runner, ground.request())
    await Promise.all(
      Array.from({ length: 4 }, () => runner.call("trial.begin", ground.request())),
    ).then((begun) => Promise.all(begun.map(({ trial }) => runner.call("trial.end", { trial }))))

    const { trials, head } = await runner.call("trial.list", { path: ground.work.path })

    const pem = readFileSync(join(service().stateDir, "receipt-key.pem"))
    const verified = trials.map(({ envelope }) => openEnvelope(envelope, pem))
    expect(verified.map(({ trial }) => trial.announcement.sequence)).toEqual([1, 2, 3, 4, 5])
    let previous: string | null = null
    for (const { trial } of verified) {
      expect(trial.announcement.previous).toBe(previous)
      expect(sha256(canonical(trial.announcement))).toBe(trial.announcement_digest)
      expect(trial.chain).toBe(verified[0]?.trial.announcement_digest)
      previous = trial.announcement_digest
      for (const { receipt, execution_id: id, role, id: step } of trial.steps) {
        if (receipt === null) continue
        const shown = openEnvelope(receipt, pem)
        expect(shown).toMatchObject({ execution_id: id, trial: { step, role } })
        expect(shown.trial.id).toBe(trial.announcement.trial)
      }
    }
    expect(head).toEqual({ sequence: 5, digest: previous ?? "" })
    const page = await runner.call("trial.list", { path: ground.work.path, from: 2, limit: 2 })
    expect(page.trials.map(({ announcement }) => announcement.sequence)).toEqual([2, 3])
    expect(page.next).toBe(4)
  })

  test("go on where another service has left them", async () => {
    using runner = await openSession()
    using ground = new TrialGround()
    const [chain, digest] = ["c".repeat(64), "d".repeat(64)]
    const continues = { sequence: 41, digest }
    const { work } = ground

    const alone = await runner.refused(
      "trial.begin",
      ground.request(undefined, {
        work: { ...work, chain },
      }),
    )
    const begun = await runner.call(
      "trial.begin",
      ground.request(undefined, {
        work: { ...work, chain, continues },
      }),
    )

    expect(alone.message).toContain("`continues`")
    expect(begun).toMatchObject({ chain, sequence: 42, previous: digest })
    const next = await runner.call("trial.begin", ground.request())
    expect(next).toMatchObject({ chain, sequence: 43, previous: begun.digest })
  })
})

type Envelope = { payloadType: string; payload: string; signatures: { sig: string }[] }

/** By the words of DSSE, and no code of ours. */
function openEnvelope(envelope: Envelope | null, pem: Buffer) {
  if (envelope === null) throw new Error("there is no envelope")
  const { payloadType, payload, signatures } = envelope
  const bytes = Buffer.from(payload, "base64")
  const head = `DSSEv1 ${Buffer.byteLength(payloadType)} ${payloadType} ${bytes.length} `
  const signed = Buffer.concat([Buffer.from(head), bytes])
  const signature = Buffer.from(signatures[0]?.sig ?? "", "base64")
  expect(verify(null, signed, createPublicKey(pem), signature)).toBe(true)
  const statement = JSON.parse(bytes.toString("utf8"))
  if (payloadType !== "application/vnd.in-toto+json") return statement
  expect(statement._type).toBe("https://in-toto.io/Statement/v1")
  expect(statement.predicateType).toBe("https://in-toto.io/attestation/test-result/v0.1")
  return statement.predicate
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const fields = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`).join(",")}}`
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
