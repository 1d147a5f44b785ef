import { describe, expect, test } from "bun:test"
import { Keeper } from "../../src/keeper/keeper.ts"
import { ExecuteParams } from "../../src/protocol/execute.ts"
import { ManualClock } from "../support/manual-clock.ts"
import { keeperPorts, keeperSettings } from "../support/scripted-keeper.ts"

const request = ExecuteParams.parse({ argv: ["any"], idempotency_key: "once" })

describe("a start that fails", () => {
  test("leaves nothing behind, not even its key", () => {
    const ports = keeperPorts(new ManualClock())
    const keeper = new Keeper(keeperSettings, ports)

    const started = keeper.start("local", request)

    expect(started).toMatchObject({ ok: false, failure: { reason: "SPAWN_FAILED" } })
    expect(keeper.size).toBe(0)
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

    const started = keeper.start("local", request)

    expect(started).toMatchObject({ ok: false, failure: { reason: "INTERNAL" } })
    expect(broken).toHaveLength(1)
    expect(keeper.size).toBe(0)
    expect(ports.store.findByKey("local", "once")).toBeNull()
  })
})
