import { describe, expect, test } from "bun:test"
import { viewOf } from "../../../../src/protocol/execution-view.ts"
import { failure } from "../../../../src/protocol/failure.ts"
import { someReceipt } from "../../storage/journal/sample-executions.ts"
import { httpService, refusalOf } from "./http-service.ts"

const nobody = "/executions/aaaaaaaaaaaaaaaaaaaaaaaaaa"

describe("an execution", () => {
  test("is shown as clients see it everywhere", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()

    const response = await get(path)

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual(viewOf(execution.record))
  })

  test("is removed", async () => {
    const { app, operations, run } = httpService()
    const { path } = run()

    const response = await app.request(path, { method: "DELETE" })

    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({})
    expect(operations.calls).toMatchObject([{ name: "remove" }])
  })

  test("that still runs is not removed", async () => {
    const { app, operations, run } = httpService()
    const { path } = run()
    operations.refusal = failure("WRONG_STATE", "It is running.", { state: "running" })

    const response = await app.request(path, { method: "DELETE" })

    expect(await refusalOf(response)).toEqual([409, "WRONG_STATE"])
  })

  test("gives its receipt, exactly as it was signed", async () => {
    const { get, run } = httpService()

    const response = await get(`${run().path}/receipt`)

    expect(await response.json()).toEqual(someReceipt)
  })

  test.each([
    ["GET", ""],
    ["DELETE", ""],
    ["GET", "/output"],
    ["GET", "/output?follow=false"],
    ["GET", "/transcript"],
    ["GET", "/receipt"],
    ["POST", "/verify"],
  ])("that does not exist: %s %s is refused", async (method, rest) => {
    const { app } = httpService()

    const response = await app.request(`${nobody}${rest}`, { method })

    expect(await refusalOf(response)).toEqual([404, "PROCESS_NOT_FOUND"])
  })

  test.each([
    ["control", { type: "PAUSE" }],
    ["input", { data: "x" }],
    ["resize", { cols: 80, rows: 24 }],
  ])("that does not exist: POST %s is refused", async (rest, body) => {
    const { post } = httpService()

    const response = await post(`${nobody}/${rest}`, body)

    expect(await refusalOf(response)).toEqual([404, "PROCESS_NOT_FOUND"])
  })

  test("whose id is too long for a name is refused before anybody is asked", async () => {
    const { operations, get } = httpService()

    const response = await get(`/executions/${"a".repeat(257)}`)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
    expect(operations.calls).toEqual([])
  })
})

describe("control", () => {
  test("passes the order on", async () => {
    const { operations, post, run } = httpService()
    const { execution, path } = run()

    const response = await post(`${path}/control`, { type: "SIGNAL", signal: "SIGUSR1" })

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: "paused" })
    expect(operations.calls[0]?.given).toEqual({
      executionId: execution.record.id,
      order: { type: "SIGNAL", signal: "SIGUSR1" },
    })
  })

  test("means the execution in the path, whatever the body says", async () => {
    const { operations, post, run } = httpService()
    const { execution, path } = run()

    await post(`${path}/control`, { type: "PAUSE", execution_id: "another" })

    expect(operations.calls[0]?.given).toMatchObject({ executionId: execution.record.id })
  })

  test.each([{}, { type: "STOP" }, { type: "SIGNAL" }, { type: "PAUSE", signal: 9 }])(
    "refuses %j",
    async (body) => {
      const { operations, post, run } = httpService()

      const response = await post(`${run().path}/control`, body)

      expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
      expect(operations.calls).toEqual([])
    },
  )
})

describe("resize", () => {
  test("passes the size on", async () => {
    const { operations, post, run } = httpService()

    const response = await post(`${run().path}/resize`, { cols: 120, rows: 40 })

    expect(await response.json()).toEqual({})
    expect(operations.calls[0]?.given).toMatchObject({ size: { cols: 120, rows: 40 } })
  })

  test("refuses a size without an extent", async () => {
    const { post, run } = httpService()

    const response = await post(`${run().path}/resize`, { cols: 0, rows: 40 })

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
  })
})

describe("the transcript", () => {
  test("is read with the defaults of the native method", async () => {
    const { operations, get, run } = httpService()
    const { execution, path } = run()

    const response = await get(`${path}/transcript`)

    expect(await response.json()).toEqual({ chunks: [], next: "c0", ended: false })
    expect(operations.calls[0]?.given).toEqual({
      execution_id: execution.record.id,
      from: "start",
      limit_bytes: 65_536, // a page of 1 MiB is read in parts
      encoding: "utf8",
    })
  })

  test("is read from a cursor, in a size and an encoding", async () => {
    const { operations, get, run } = httpService()

    await get(`${run().path}/transcript?from=c5&limit_bytes=10&encoding=base64`)

    const wanted = { from: "c5", limit_bytes: 10, encoding: "base64" }
    expect(operations.calls[0]?.given).toMatchObject(wanted)
  })

  test.each(["limit_bytes=0", "encoding=binary", "from="])("refuses %s", async (query) => {
    const { get, run } = httpService()

    const response = await get(`${run().path}/transcript?${query}`)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
  })

  test("is verified against a claim, or without one and without a body", async () => {
    const { app, operations, post, run } = httpService()
    const { execution, path } = run()
    const { id } = execution.record

    const claimed = await post(`${path}/verify`, { contains: "42 passed", hash: "ab" })
    await app.request(`${path}/verify`, { method: "POST" })

    expect(await claimed.json()).toEqual({ verified: true, chain: "intact" })
    expect(operations.calls.map(({ given }) => given)).toEqual([
      { execution_id: id, contains: "42 passed", hash: "ab" },
      { execution_id: id },
    ])
  })

  test("is not verified against a claim of nothing", async () => {
    const { post, run } = httpService()

    const response = await post(`${run().path}/verify`, { contains: "" })

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
  })
})
