import { describe, expect, test } from "bun:test"
import { ExecuteParams } from "../../../../src/protocol/execute.ts"
import { Keeper } from "../../../../src/service/keeper/keeper.ts"
import type { KeeperSettings } from "../../../../src/service/keeper/keeper-ports.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { ScriptedChildren } from "../../../support/scripted-children.ts"
import { keeperPorts, keeperSettings } from "../../../support/scripted-keeper.ts"
import { until } from "../../../support/until.ts"
import { temporaryTranscripts } from "../../storage/transcript/temporary-transcripts.ts"

const plenty = { ...keeperSettings, maxExecutions: 10, maxQueue: 1000 }
const ann = { principal: "ann", exempt: false }
const bob = { principal: "bob", exempt: false }
const admin = { principal: "ann", exempt: true }

/** A keeper whose children do what the test says; everything it asks of disk or journal counts. */
function stage(change: Partial<KeeperSettings>) {
  const clock = new ManualClock()
  const transcripts = temporaryTranscripts()
  const children = new ScriptedChildren(clock)
  const asked: string[] = []
  const ports = keeperPorts(clock)
  const { store, programs } = ports
  const keeper = new Keeper(
    { ...plenty, ...change },
    {
      ...ports,
      spawner: children,
      transcripts: transcripts.store,
      programs: {
        ...programs,
        locate(...wanted) {
          asked.push("locate")
          return programs.locate(...wanted)
        },
      },
      withoutReserve(write) {
        asked.push("journal")
        return ports.withoutReserve(write)
      },
      store: new Proxy(store, {
        get(target, name) {
          if (name === "findByKey") asked.push("key")
          const value: unknown = Reflect.get(target, name, target)
          return typeof value === "function" ? value.bind(target) : value
        },
      }),
    },
  )
  const start = (starter: typeof ann, name: string, more: object = {}) => {
    const request = ExecuteParams.parse({ argv: ["any", name], ...more })
    return keeper.start(starter, request)
  }
  return {
    clock,
    keeper,
    children,
    asked,
    start,
    [Symbol.dispose]: () => transcripts[Symbol.dispose](),
  }
}

const stateOf = (started: ReturnType<Keeper["start"]>) =>
  started.ok ? started.value.record.state.kind : started.failure.reason

describe("executions of one principal at once", () => {
  test("are bounded: more wait, and start in their order when one ends", async () => {
    using staged = stage({ maxExecutionsPerPrincipal: 2 })
    const { start, children } = staged

    const states = ["a1", "a2", "a3", "a4"].map((name) => stateOf(start(ann, name)))

    expect(states).toEqual(["running", "running", "queued", "queued"])
    expect(stateOf(start(bob, "b1"))).toBe("running")
    expect(stateOf(start(admin, "r1"))).toBe("running")
    children.end("a2")
    await until("the next has started", () => children.started.includes("a3"))
    expect(children.started).toEqual(["a1", "a2", "b1", "r1", "a3"])
  })

  test("that wait are bounded too, and only that one is refused", () => {
    using staged = stage({ maxExecutionsPerPrincipal: 1, maxQueuePerPrincipal: 1 })
    const { start } = staged
    start(ann, "a1")
    start(ann, "a2")

    const refused = start(ann, "a3")

    expect(refused).toMatchObject({
      failure: { reason: "AT_CAPACITY", details: { retry_after: 1 } },
    })
    expect(stateOf(start(admin, "r1"))).toBe("running")
    expect(stateOf(start(bob, "b1"))).toBe("running")
  })

  test("let others have the places that become free, in turn", async () => {
    using staged = stage({ maxExecutions: 1 })
    const { start, children } = staged
    for (const name of ["a1", "a2", "a3"]) start(ann, name)
    for (const name of ["b1", "b2"]) start(bob, name)

    for (const name of ["a1", "a2", "b1", "a3"]) {
      const before = children.started.length
      children.end(name)
      await until("the next has started", () => children.started.length > before)
    }

    expect(children.started).toEqual(["a1", "a2", "b1", "a3", "b2"])
  })
})

describe("starts a minute", () => {
  test("past their number are refused with the time to wait, which is true", () => {
    using staged = stage({ startsPerMinute: 60, maxExecutionsPerPrincipal: 1 })
    const { start, clock } = staged
    for (let count = 0; count < 10; count += 1) expect(start(ann, "any").ok).toBe(true)

    const refused = start(ann, "any")

    expect(refused).toMatchObject({
      failure: { reason: "RATE_LIMITED", details: { retry_after: 1 } },
    })
    expect(start(bob, "any").ok).toBe(true)
    expect(start(admin, "any").ok).toBe(true)
    clock.advance(1000)
    expect(start(ann, "any").ok).toBe(true)
  })

  test("and places past theirs are refused without a look at journal or disk", () => {
    using staged = stage({
      startsPerMinute: 60,
      maxExecutionsPerPrincipal: 1,
      maxQueuePerPrincipal: 1,
    })
    const { start, asked } = staged
    start(ann, "a1")
    start(ann, "a2")
    asked.length = 0

    const reasons = Array.from({ length: 20 }, () => stateOf(start(ann, "more")))
    const keyed = start(ann, "more", { idempotency_key: "once" })

    expect(new Set(reasons)).toEqual(new Set(["AT_CAPACITY", "RATE_LIMITED"]))
    expect(stateOf(keyed)).toBe("RATE_LIMITED")
    expect(asked).toEqual([])
  })

  test("find an earlier start by its key where there is no room, and ask for nothing else", () => {
    using staged = stage({ maxExecutionsPerPrincipal: 1, maxQueuePerPrincipal: 1 })
    const { start, asked } = staged
    start(ann, "a1", { idempotency_key: "once" })
    start(ann, "a2")
    asked.length = 0

    const repeated = start(ann, "a1", { idempotency_key: "once" })
    const fresh = start(ann, "more", { idempotency_key: "another" })

    expect(repeated).toMatchObject({ ok: true, value: { repeated: true } })
    expect(stateOf(fresh)).toBe("AT_CAPACITY")
    expect(asked).toEqual(["key", "key", "key"]) // a key that is not found is looked for hashed too
  })
})

describe("output of live executions", () => {
  test("past one principal's share keeps that one from starting more until it ends", async () => {
    using staged = stage({ retainBytesPerPrincipal: 10_000 })
    const { start, children, keeper, clock } = staged
    start(ann, "a1")
    children.write("a1", 10_000)
    await until("it is recorded", () => {
      clock.advance(250)
      return keeper.disk.live().totalBytes === 10_000
    })

    expect(stateOf(start(ann, "a2"))).toBe("AT_CAPACITY")
    expect(stateOf(start(bob, "b1"))).toBe("running")
    expect(stateOf(start(admin, "r1"))).toBe("running")
    children.end("a1")
    await until("it has ended", () => keeper.live.size === 2)
    expect(stateOf(start(ann, "a3"))).toBe("running")
  })

  test("past the cap of all keeps everybody from starting more", async () => {
    using staged = stage({ maxDiskBytes: 10_000 })
    const { start, children, keeper, clock } = staged
    start(ann, "a1")
    children.write("a1", 10_000)
    await until("it is recorded", () => {
      clock.advance(250)
      return keeper.disk.live().totalBytes === 10_000
    })

    expect(stateOf(start(admin, "r1"))).toBe("DISK_FULL")
    children.end("a1")
    await until("it has ended", () => keeper.live.size === 0)
    expect(stateOf(start(admin, "r1"))).toBe("running")
  })
})
