import { describe, expect, test } from "bun:test"
import type { ExecutionRecord } from "../../../src/execution/record.ts"
import { fail } from "../../../src/lib/result.ts"
import { ExecuteParams } from "../../../src/protocol/execute.ts"
import { Keeper } from "../../../src/service/keeper/keeper.ts"
import { ManualClock, settled } from "../../support/manual-clock.ts"
import { MemoryJournal } from "../../support/memory-journal.ts"
import { keeperPorts, keeperSettings } from "../../support/scripted-keeper.ts"

const request = ExecuteParams.parse({ argv: ["any"], idempotency_key: "once" })

const local = { principal: "local", exempt: true }

describe("a start that fails", () => {
  test("leaves nothing behind, not even its key", () => {
    const ports = keeperPorts(new ManualClock())
    const keeper = new Keeper(keeperSettings, ports)

    const started = keeper.start(local, request)

    expect(started).toMatchObject({ ok: false, failure: { reason: "SPAWN_FAILED" } })
    expect(keeper.live.size).toBe(0)
    expect(ports.store.unfinished()).toEqual([])
    expect(ports.store.findByKey("local", "once")).toBeNull()
  })

  test("in a way that nobody expected does so too, and is told", () => {
    const broken: unknown[] = []
    const ports = keeperPorts(new ManualClock())
    ports.broke = (_record, error) => broken.push(error)
    ports.spawner = {
      ...ports.spawner,
      spawn() {
        throw new Error("no terminal is to be had")
      },
    }
    const keeper = new Keeper(keeperSettings, ports)

    const started = keeper.start(local, request)

    expect(started).toMatchObject({ ok: false, failure: { reason: "INTERNAL" } })
    expect(broken).toHaveLength(1)
    expect(keeper.live.size).toBe(0)
    expect(ports.store.findByKey("local", "once")).toBeNull()
  })
})

describe("a name", () => {
  const named = (name: string, key?: string) =>
    ExecuteParams.parse({ argv: ["any"], labels: { name }, idempotency_key: key })
  const inUse = { ok: false, failure: { reason: "NAME_IN_USE" } }
  const queueOnly = { ...keeperSettings, maxExecutions: 0, maxQueue: 10 }
  const alice = { principal: "alice", exempt: true }

  test("is one live execution's of its principal, also while that is queued", async () => {
    const ports = keeperPorts(new ManualClock())
    const keeper = new Keeper(queueOnly, ports)
    const first = keeper.start(local, named("nightly"))
    const executionId = first.ok ? first.value.record.id : ""

    const second = keeper.start(local, named("nightly"))

    expect(second).toMatchObject(inUse)
    expect(second).toMatchObject({
      failure: { details: { name: "nightly", execution_id: executionId, state: "queued" } },
    })
    expect(keeper.start(local, named("weekly")).ok).toBe(true)
    expect(keeper.start(alice, named("nightly")).ok).toBe(true)
    expect(keeper.live.size).toBe(3)
    expect(ports.store.unfinished()).toHaveLength(3)
    await keeper.control({ executionId, type: "CANCEL" })
    expect(keeper.start(local, named("nightly")).ok).toBe(true)
  })

  test("in use does not keep a repeat from what was started", () => {
    const keeper = new Keeper(queueOnly, keeperPorts(new ManualClock()))
    const first = keeper.start(local, named("nightly", "key"))

    const again = keeper.start(local, named("nightly", "key"))

    expect(first.ok && again.ok && again.value).toMatchObject({
      repeated: true,
      record: { id: first.ok && first.value.record.id },
    })
  })

  test("that is empty is none", () => {
    const keeper = new Keeper(queueOnly, keeperPorts(new ManualClock()))

    expect(keeper.start(local, named("")).ok && keeper.start(local, named("")).ok).toBe(true)
  })

  test("is used up by no start that failed", () => {
    const keeper = new Keeper(keeperSettings, keeperPorts(new ManualClock()))

    for (const _time of [1, 2]) {
      expect(keeper.start(local, named("nightly"))).toMatchObject({
        failure: { reason: "SPAWN_FAILED" },
      })
    }
  })
})

describe("a start that fails when the program has begun already", () => {
  test("is told as that, with its id, and stays on record", async () => {
    const ports = keeperPorts(new ManualClock())
    const failure = { errno: "ENFILE", message: "/bin/sh: no file", hasRun: true }
    ports.spawner = { ...ports.spawner, spawn: () => fail(failure) }
    const ends: ExecutionRecord[] = []
    ports.journalEnd = async (_events, record) => void ends.push(record)
    const keeper = new Keeper(keeperSettings, ports)

    const started = keeper.start(local, request)
    await settled()

    const kept = ports.store.findByKey("local", "once")?.record
    const told = expect.stringMatching(/^It was started, .* ended at once: the system has no file/)
    expect(started).toMatchObject({
      ok: false,
      failure: { reason: "AT_CAPACITY", message: told, details: { execution_id: kept?.id } },
    })
    expect(ends).toMatchObject([
      { id: kept?.id, state: { kind: "ended", outcome: { kind: "lost", reason: told } } },
    ])
  })
})

describe("a queue that is full", () => {
  test("has no room for another before the end of one that was canceled is written", async () => {
    const written = Promise.withResolvers<void>()
    const ports = keeperPorts(new ManualClock())
    ports.journalEnd = () => written.promise
    const keeper = new Keeper({ ...keeperSettings, maxExecutions: 0, maxQueue: 1 }, ports)
    const waiting = ExecuteParams.parse({ argv: ["any"] })
    const started = keeper.start(local, waiting)
    const executionId = started.ok ? started.value.record.id : ""

    const canceled = keeper.control({ executionId, type: "CANCEL" })

    expect(keeper.start(local, waiting)).toMatchObject(fullHouse)
    written.resolve()
    expect(await canceled).toMatchObject({ ok: true, value: { status: "canceled" } })
    await Promise.resolve() // its place is given back in the turn of its end
    expect(keeper.start(local, waiting)).toMatchObject({ ok: true })
    expect(keeper.start(local, waiting)).toMatchObject(fullHouse)
  })
})

describe("a queued execution that was canceled", () => {
  test("is not handed over as one that waits, once its end may be in the journal", async () => {
    const written = Promise.withResolvers<void>()
    const ports = keeperPorts(new ManualClock())
    ports.journalEnd = () => written.promise
    const keeper = new Keeper({ ...keeperSettings, maxExecutions: 0 }, ports)
    const started = keeper.start(local, request)
    const executionId = started.ok ? started.value.record.id : ""
    expect(keeper.live.handOver()?.queued).toHaveLength(1)

    const canceled = keeper.control({ executionId, type: "CANCEL" })

    expect(keeper.live.handOver()).toBeNull()
    written.resolve()
    await canceled
    await Promise.resolve() // its place is given back in the turn of its end
    expect(keeper.live.handOver()).toEqual({ executions: [], queued: [] })
  })
})

describe("an end that is in the journal, and not yet safe from a loss of power", () => {
  test("is waited for by whoever removes what has ended", async () => {
    const safe = Promise.withResolvers<void>()
    const store = new MemoryJournal()
    const ports = { ...keeperPorts(new ManualClock()), store }
    ports.journalEnd = (_events, record) => {
      store.update(record)
      return safe.promise
    }
    const keeper = new Keeper({ ...keeperSettings, maxExecutions: 0 }, ports)
    const started = keeper.start(local, request)
    const executionId = started.ok ? started.value.record.id : ""
    expect(await keeper.remove(executionId)).toMatchObject({ failure: { reason: "WRONG_STATE" } })
    void keeper.control({ executionId, type: "CANCEL" })
    await settled()

    const removed = keeper.remove(executionId)
    safe.resolve()

    expect(await removed).toEqual({ ok: true, value: {} })
    expect(store.find(executionId)).toBeNull()
  })
})

const fullHouse = { ok: false, failure: { reason: "AT_CAPACITY", details: { retry_after: 1 } } }
