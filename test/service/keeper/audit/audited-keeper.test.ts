import { describe, expect, test } from "bun:test"
import type { Policy } from "../../../../src/execution/policy.ts"
import { ok } from "../../../../src/lib/result.ts"
import type { Attempt } from "../../../../src/protocol/audit-entry.ts"
import { ExecuteParams } from "../../../../src/protocol/execute.ts"
import { AuditedKeeper } from "../../../../src/service/keeper/audit/audited-keeper.ts"
import { Keeper } from "../../../../src/service/keeper/keeper.ts"
import type { TranscriptStore } from "../../../../src/service/keeper/ports.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { NotedAudit } from "../../../support/noted.ts"
import { sampleId } from "../../../support/sample-record.ts"
import { ScriptedChildren } from "../../../support/scripted-children.ts"
import { keeperPorts, keeperSettings } from "../../../support/scripted-keeper.ts"
import { temporaryTranscripts } from "../../storage/transcript/temporary-transcripts.ts"

const origin = { principal: "alice", address: "192.0.2.7", via: "http" }

const everything: Policy = { kind: "everything" }
const nothingAllowed: Policy = {
  kind: "allow-list",
  programs: [],
  directories: null,
  variables: null,
}

/** A keeper in which everything waits, and one more is too many. */
function audited({ policy = everything, startsPerMinute = Infinity } = {}) {
  const clock = new ManualClock()
  const audit = new NotedAudit()
  const ports = keeperPorts(clock)
  const settings = {
    ...keeperSettings,
    maxExecutions: 0,
    maxQueue: 1,
    startsPerMinute: Math.min(startsPerMinute, keeperSettings.startsPerMinute),
    plan: () => ({ ...keeperSettings.plan(), policy }),
  }
  const keeper = new AuditedKeeper(new Keeper(settings, ports), audit, clock, null)
  const exempt = startsPerMinute === Infinity
  const start = (request: object) =>
    keeper.start(origin, exempt, ExecuteParams.parse(request), false)
  const attempts = () => audit.notes.filter((note): note is Attempt => note.event === "attempt")
  return { clock, audit, ports, keeper, start, attempts }
}

describe("what is asked of the keeper", () => {
  test("is noted with who, from where and what, but no value of its environment", () => {
    const { start, attempts } = audited()

    const env = { TOKEN: "s3cret-value", A: "1" }
    const started = start({ command: "make -j 2 | cat", cwd: "/src", env })

    const id = started.ok ? started.value.record.id : ""
    const what = {
      argv: ["/bin/sh", "-c", "make -j 2 | cat"],
      cwd: "/src",
      env: ["A", "TOKEN"],
      shell: true,
    }
    const facts = { method: "execute", execution_id: id, outcome: "allowed", what } as const
    expect(attempts()).toEqual([{ event: "attempt", ...origin, ...facts }])
  })

  test("and found again by its key is told as repeated", () => {
    const { start, attempts } = audited()
    start({ argv: ["any"], idempotency_key: "k" })
    start({ argv: ["any"], idempotency_key: "k" })
    const other = start({ argv: ["other"], idempotency_key: "k" })

    expect(other).toMatchObject({ failure: { reason: "IDEMPOTENCY_MISMATCH", audited: true } })
    expect(attempts()).toMatchObject([
      { outcome: "allowed" },
      { outcome: "allowed", repeated: true },
      { outcome: "refused", reason: "IDEMPOTENCY_MISMATCH" },
    ])
  })

  test("and refused says why, and is marked as noted", async () => {
    const { start, keeper, attempts } = audited()
    start({ argv: ["any"] })

    const refused = start({ argv: ["another"], env: { TOKEN: "s3cret-value" } })
    const executionId = sampleId(9)
    const removed = await keeper.remove({ origin, executionId })
    const paused = await keeper.control({ origin, executionId, type: "PAUSE" })

    expect(refused).toMatchObject({ failure: { reason: "AT_CAPACITY", audited: true } })
    expect(removed).toMatchObject({ failure: { reason: "PROCESS_NOT_FOUND", audited: true } })
    expect(paused).toMatchObject({ failure: { reason: "PROCESS_NOT_FOUND", audited: true } })
    expect(attempts().slice(1)).toMatchObject([
      { method: "execute", reason: "AT_CAPACITY" },
      { method: "remove", reason: "PROCESS_NOT_FOUND", execution_id: executionId },
      { method: "control", reason: "PROCESS_NOT_FOUND", what: { type: "PAUSE" } },
    ])
  })

  test("and fails for a reason that holds a value of the environment does not tell it", () => {
    const { ports, start, attempts } = audited()
    const path = "/very/private/bin"
    ports.programs.locate = () => ({
      ok: false,
      failure: { errno: "ENOENT", message: `any: command not found in PATH (${path})` },
    })

    const started = start({ argv: ["any"], env: { PATH: path } })

    expect(started).toMatchObject({ failure: { message: expect.stringContaining(path) } })
    expect(attempts()).toMatchObject([{ message: "Could not start: ENOENT." }])
    expect(JSON.stringify(attempts())).not.toContain(path)
  })

  test("with a command as long as they come is cut, with how much", () => {
    const { start, attempts } = audited()
    const argv = ["any", "x".repeat(10_000), ...Array<string>(1000).fill("")]
    start({ argv })

    const [attempt] = attempts()

    expect(attempt?.what).toMatchObject({ argv: ["any", "x".repeat(4092)], cut: 5908 })
  })
})

describe("refusals by the hundred", () => {
  test("of one kind are told once, and then by their number", () => {
    const { clock, start, attempts } = audited()
    start({ argv: ["first"] })
    for (let nth = 0; nth < 500; nth += 1) start({ argv: ["same"] })
    expect(attempts()).toHaveLength(2)

    clock.advance(1000)

    expect(
      attempts()
        .slice(1)
        .map(({ count }) => count ?? 1),
    ).toEqual([1, 499])
    clock.advance(5000)
    expect(attempts()).toHaveLength(3)
    expect(clock.pending).toBe(0)
  })

  test("of different commands are told one by one, however many", () => {
    const { start, attempts } = audited({ policy: nothingAllowed })
    for (let nth = 0; nth < 1500; nth += 1) start({ argv: [`command-${nth}`] })

    expect(attempts()[0]).toMatchObject({ reason: "SECURITY_DENIED" })
    expect(new Set(attempts().map(({ what }) => JSON.stringify(what))).size).toBe(1500)
  })

  test("for want of room or for speed are of one kind, whatever the command", () => {
    const { clock, start, attempts } = audited({ startsPerMinute: 1 })
    for (let nth = 0; nth < 500; nth += 1) start({ argv: ["x".repeat(3000), `${nth}`] })
    clock.advance(1000)

    const refused = attempts().slice(1)
    expect(refused.map(({ reason }) => reason)).toEqual([
      "AT_CAPACITY",
      "RATE_LIMITED",
      "AT_CAPACITY",
      "RATE_LIMITED",
    ])
    expect(refused.reduce((sum, { count = 1 }) => sum + count, 0)).toBe(499)
    expect(refused.filter(({ what }) => what !== undefined)).toEqual([])
  })

  test("are told at the end, when the service does not live to see the second", () => {
    const { clock, keeper, start, attempts } = audited()
    start({ argv: ["first"] })
    for (let nth = 0; nth < 3; nth += 1) start({ argv: ["same"] })

    keeper.flush()

    expect(attempts().at(-1)).toMatchObject({ count: 2 })
    expect(clock.pending).toBe(0)
  })
})

describe("input by the hundred", () => {
  test("is told once, and counted without a whole record for each", async () => {
    const { clock, ports, audit } = audited()
    const children = new ScriptedChildren(clock)
    const input = { write: async (bytes: Uint8Array) => bytes.length, close: () => undefined }
    using transcripts = temporaryTranscripts()
    const { store } = transcripts
    let records = 0
    const keeper = new Keeper(keeperSettings, {
      ...ports,
      spawner: {
        containment: "best-effort",
        spawn(launch) {
          const spawned = children.spawn(launch)
          return spawned.ok ? ok({ ...spawned.value, input }) : spawned
        },
        adopt: () => children.adopt(),
        endUnadopted: () => children.endUnadopted(),
      },
      transcripts: Object.assign(store, {
        create: countingFacts(store.create.bind(store), () => (records += 1)),
      }),
    })
    const outer = new AuditedKeeper(keeper, audit, clock, null)
    const request = ExecuteParams.parse({ argv: ["any", "a"], stdin: "pipe" })
    const started = outer.start(origin, true, request, false)
    const executionId = started.ok ? started.value.record.id : ""
    const before = records

    for (let nth = 0; nth < 100; nth += 1) {
      const data = new Uint8Array([nth])
      expect(await outer.input({ origin, executionId, data, end: false })).toMatchObject({
        ok: true,
      })
    }

    expect(records).toBe(before)
    const inputs = audit.notes.filter((note) => note.event === "attempt" && note.method === "input")
    expect(inputs).toHaveLength(1)
    children.end("a")
    await keeper.live.find(executionId)?.ended
  })
})

type Create = TranscriptStore["create"]

/** Every whole record asks the transcript how far it is. */
function countingFacts(create: Create, count: () => void): Create {
  return (...wanted) => {
    const writer = create(...wanted)
    const facts = writer.facts.bind(writer)
    return Object.assign(writer, {
      facts() {
        count()
        return facts()
      },
    })
  }
}
