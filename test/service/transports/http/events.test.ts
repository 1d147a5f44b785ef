import { describe, expect, test } from "bun:test"
import { viewOf } from "../../../../src/protocol/execution-view.ts"
import { EventReader } from "./event-reader.ts"
import { running } from "./fake-execution.ts"
import { httpService, refusalOf, rejectionOf } from "./http-service.ts"

describe("watching executions", () => {
  test("tells every change, in order", async () => {
    const { operations, get } = httpService()
    const records = [running(), running(), running()]

    const reader = new EventReader(await get("/events"))
    for (const record of records) operations.tell(record)

    for (const record of records) {
      expect(await reader.next()).toEqual({ event: "state", id: null, data: viewOf(record) })
    }
    const later = running()
    const next = reader.next()
    operations.tell(later)
    expect(await next).toMatchObject({ data: { execution_id: later.id } })
    await reader.cancel()
  })

  test("asks for labels", async () => {
    const { operations, get } = httpService()

    const response = await get("/events?label=job:7")

    expect([...operations.watchers]).toMatchObject([{ labels: { job: "7" } }])
    await response.body?.cancel()
  })

  test("refuses what is no label", async () => {
    const { operations, get } = httpService()

    const response = await get("/events?label=job")

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
    expect(operations.watchers.size).toBe(0)
  })

  test("ends when its reader leaves", async () => {
    const { operations, get } = httpService()
    const reader = new EventReader(await get("/events"))
    await reader.block()
    const next = reader.next()

    await reader.cancel()

    expect(await next).toBeNull()
    expect(operations.watchers.size).toBe(0)
  })

  test("does not begin when only its headers are asked for", async () => {
    const { app, operations } = httpService()

    const response = await app.request("/events", { method: "HEAD" })

    expect(response.status).toBe(200)
    expect(operations.watchers.size).toBe(0)
  })

  test("says that it is there when nothing happens for 15 s", async () => {
    const { get, timers } = httpService()
    const reader = new EventReader(await get("/events"))
    await reader.block()

    const next = reader.block()
    timers.fire()

    expect(await next).toStartWith(":")
    await reader.cancel()
    expect(timers.waiting.size).toBe(0)
  })

  test("disconnects a reader that is too far behind, and keeps nothing for it", async () => {
    const { operations, get } = httpService()
    const reader = new EventReader(await get("/events"))
    await reader.block()
    const record = running()

    for (let change = 0; change <= 1000; change += 1) operations.tell(record)
    const next = reader.next()

    expect(String(await rejectionOf(next))).toContain("behind")
    expect(operations.watchers.size).toBe(0)
  })
})
