import { describe, expect, test } from "bun:test"
import { viewOf } from "../../../../../src/protocol/execution-view.ts"
import { failure } from "../../../../../src/protocol/failure.ts"
import { completedOf, notifications } from "../../../../../src/protocol/notifications.ts"
import { EventReader } from "../event-reader.ts"
import { httpService, refusalOf } from "../http-service.ts"

const events = { Accept: "text/event-stream" }

describe("output as server-sent events", () => {
  test("begins with the state and ends with `completed`", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("one\n")
    execution.write("two", "stderr")
    execution.end()

    const response = await get(`${path}/output`, events)
    const received = await new EventReader(response).rest()

    expect(response.headers.get("content-type")).toBe("text/event-stream")
    expect(response.headers.get("x-cc-execution-state")).toBe("ended")
    const { id } = execution.record
    expect(received.map(({ event }) => event)).toEqual([
      "state",
      "output",
      "output",
      "state",
      "completed",
    ])
    expect(received[0]).toEqual({ event: "state", id: "c0", data: viewOf(execution.record) })
    expect(received[1]).toEqual({
      event: "output",
      id: "c1",
      data: {
        execution_id: id,
        type: "stdout",
        data: "one\n",
        sequence: 0,
        next: "c1",
        time: "2026-11-16T08:00:00.000Z",
        truncated: false,
      },
    })
    expect(received[2]).toMatchObject({ id: "c2", data: { type: "stderr", truncated: true } })
    expect(received[3]).toMatchObject({ id: "c3", data: { state: "draining" } })
    expect(received[4]).toMatchObject({ data: completedOf(viewOf(execution.record)) })
    expect(execution.feeds.size).toBe(0)
  })

  test("says the same as the native notifications", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    for (const part of ["a", "b"]) execution.write(part)
    execution.forgetBefore(1)
    execution.end()

    const received = await new EventReader(await get(`${path}/output`, events)).rest()

    const schemas = new Map(Object.entries(notifications))
    for (const { event, data } of received) {
      const name = event === "state" ? "execution.changed" : `process.${event}`
      expect(schemas.get(name)?.strict().safeParse(data)).toMatchObject({ success: true })
    }
    expect(received.map(({ event }) => event)).toEqual([
      "state",
      "gap",
      "output",
      "state",
      "completed",
    ])
    expect(received[1]).toMatchObject({ id: "c1", data: { from: "c0", next: "c1", bytes: 1 } })
  })

  test("comes as it is written", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    const reader = new EventReader(await get(`${path}/output`, events))
    await reader.next()

    const first = reader.next()
    execution.write("now")

    expect(await first).toMatchObject({ event: "output", data: { data: "now" } })
    await reader.cancel()
    expect(execution.feeds.size).toBe(0)
  })

  test("counts what is not UTF-8, or is exact in base64", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write(new Uint8Array([255, 65]))
    execution.end()

    const [, text] = await new EventReader(await get(`${path}/output`, events)).rest()
    const response = await get(`${path}/output?encoding=base64`, events)
    const [, exact] = await new EventReader(response).rest()

    expect(text).toMatchObject({ data: { data: "\u{fffd}A", lossy: 1 } })
    expect(exact).toMatchObject({ data: { data: "/0E=", encoding: "base64" } })
    expect(exact?.data).not.toHaveProperty("lossy")
  })

  test("is of one stream if asked", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("a")
    execution.write("b", "stderr")
    execution.end()

    const response = await get(`${path}/output?stream=stderr`, events)
    const received = await new EventReader(response).rest()

    const output = received.filter(({ event }) => event === "output")
    expect(output).toMatchObject([{ data: { type: "stderr", data: "b" } }])
  })

  test("ends at the present end with follow=false", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("a")

    const response = await get(`${path}/output?follow=false`, events)
    execution.write("b")
    const received = await new EventReader(response).rest()

    expect(received.map(({ event }) => event)).toEqual(["state", "output"])
    expect(execution.feeds.size).toBe(0)
  })

  test("ends with `failure` when the record cannot be read on", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.fail(failure("EXPIRED", "It is gone."))

    const received = await new EventReader(await get(`${path}/output`, events)).rest()

    expect(received.at(-1)).toMatchObject({
      event: "failure",
      data: { execution_id: execution.record.id, error: { data: { reason: "EXPIRED" } } },
    })
    expect(execution.feeds.size).toBe(0)
  })

  test("says that it is there when nothing else was said for 15 s", async () => {
    const { get, run, timers } = httpService()
    const { execution, path } = run()
    const reader = new EventReader(await get(`${path}/output`, events))
    await reader.next()

    const next = reader.block()
    expect([...timers.waiting]).toMatchObject([{ delayMs: 15_000 }])
    timers.fire()

    expect(await next).toStartWith(":")
    const output = reader.next()
    execution.write("a")
    expect(await output).toMatchObject({ event: "output" })
    await reader.cancel()
    expect(timers.waiting.size).toBe(0)
  })
})

describe("resuming by Last-Event-ID", () => {
  test("goes on behind the event that was seen last, whatever `from` says", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    for (const part of ["a", "b", "c"]) execution.write(part)
    const first = new EventReader(await get(`${path}/output?from=start`, events))
    await first.next()
    const seen = await first.next()
    await first.cancel()
    execution.end()

    const headers = { ...events, "Last-Event-ID": seen?.id ?? "" }
    const received = await new EventReader(await get(`${path}/output?from=start`, headers)).rest()

    const output = received.filter(({ event }) => event === "output")
    expect(output.map(({ data }) => data)).toMatchObject([{ data: "b" }, { data: "c" }])
  })

  test("after `completed` is answered with 204, so that a browser stops", async () => {
    const { operations, get, run } = httpService()
    const { execution, path } = run()
    execution.end()
    const received = await new EventReader(await get(`${path}/output`, events)).rest()
    operations.calls.length = 0

    const headers = { ...events, "Last-Event-ID": received.at(-1)?.id ?? "" }
    const response = await get(`${path}/output`, headers)

    expect(response.status).toBe(204)
    expect(operations.calls).toEqual([])
  })

  test("with what is no cursor is refused", async () => {
    const { get, run } = httpService()
    const headers = { ...events, "Last-Event-ID": "nonsense" }

    const response = await get(`${run().path}/output`, headers)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
  })

  test("means nothing to raw bytes", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("a")
    execution.end()

    const response = await get(`${path}/output`, { "Last-Event-ID": "c1" })

    expect(await response.text()).toBe("a")
  })
})

test.each([
  ["text/event-stream", "text/event-stream"],
  ["text/event-stream;q=0.9, */*;q=0.1", "text/event-stream"],
  ["application/octet-stream, text/event-stream;q=0.5", "application/octet-stream"],
  ["text/event-stream;q=0", "application/octet-stream"],
  ["*/*", "application/octet-stream"],
  ["application/json", "application/octet-stream"],
])("Accept: %s gets %s", async (accept, type) => {
  const { get, run } = httpService()
  const { execution, path } = run()
  execution.end()

  const response = await get(`${path}/output`, { Accept: accept })

  expect(response.headers.get("content-type")).toBe(type)
  expect(response.headers.get("vary")).toBe("Accept")
  await response.body?.cancel()
})
