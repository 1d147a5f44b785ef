import { describe, expect, test } from "bun:test"
import { ExecuteParams } from "../../../src/protocol/execute.ts"
import { Keeper } from "../../../src/service/keeper/keeper.ts"
import { ManualClock } from "../../support/manual-clock.ts"
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

const fullHouse = { ok: false, failure: { reason: "AT_CAPACITY", details: { retry_after: 1 } } }
