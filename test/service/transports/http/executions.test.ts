import { describe, expect, test } from "bun:test"
import { failure, Reason, wireCodes } from "../../../../src/protocol/failure.ts"
import { queued } from "../../storage/journal/sample-executions.ts"
import { running } from "./fake-execution.ts"
import { alice, httpService, refusalOf } from "./http-service.ts"

describe("starting an execution", () => {
  test("answers 201 with its id, its pid and where it is", async () => {
    const { operations, post } = httpService()
    const record = running()
    operations.startsAs = { record, repeated: false }

    const response = await post("/executions", { command: "make test", labels: { job: "7" } })

    expect(response.status).toBe(201)
    expect(response.headers.get("location")).toBe(`/executions/${record.id}`)
    expect(await response.json()).toEqual({
      status: "started",
      execution_id: record.id,
      pid: 4711,
      pgid: 4711,
    })
    expect(operations.calls).toMatchObject([
      {
        name: "execute",
        caller: alice,
        given: { follow: false, params: { command: "make test", labels: { job: "7" } } },
      },
    ])
  })

  test("answers `queued` while it waits for its turn", async () => {
    const { operations, post } = httpService()
    const record = queued()
    operations.startsAs = { record, repeated: false }

    const response = await post("/executions", { argv: ["make"] })

    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({ status: "queued", execution_id: record.id })
  })

  test("takes the idempotency key from the header, and says when it found one", async () => {
    const { operations, post } = httpService()
    operations.startsAs = { record: running(), repeated: true }

    const response = await post("/executions", { command: "make" }, { "Idempotency-Key": "k1" })

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: "started", repeated: true })
    expect(operations.calls[0]).toMatchObject({ given: { params: { idempotency_key: "k1" } } })
  })

  test("refuses a key that fits no schema, or differs from the body's", async () => {
    const { operations, post } = httpService()
    const body = { command: "make", idempotency_key: "k1" }

    const same = await post("/executions", body, { "Idempotency-Key": "k1" })
    const other = await post("/executions", body, { "Idempotency-Key": "k2" })
    const long = await post("/executions", { command: "x" }, { "Idempotency-Key": "k".repeat(257) })

    expect(same.status).toBe(201)
    expect(await refusalOf(other)).toEqual([400, "INVALID_PARAMS"])
    expect(await refusalOf(long)).toEqual([400, "INVALID_PARAMS"])
    expect(operations.calls).toHaveLength(1)
  })

  test("refuses again what an idempotency key finds to have failed", async () => {
    const { operations, post } = httpService()
    const outcome = { kind: "failed-to-start", errno: "ENOENT", message: "no such file" } as const
    const record = queued({ state: { kind: "ended", outcome } })
    operations.startsAs = { record, repeated: true }

    const response = await post("/executions", { argv: ["/nowhere"] })

    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({
      error: { message: "no such file", data: { reason: "SPAWN_FAILED", errno: "ENOENT" } },
    })
  })

  test.each([
    ["neither command nor argv", {}],
    ["both", { command: "make", argv: ["make"] }],
    ["a wrong type", { command: 7 }],
    ["a lease that no connection holds", { command: "make", on_disconnect: "cancel" }],
    ["an array", ["make"]],
    ["null", null],
  ])("refuses %s", async (_, body) => {
    const { operations, post } = httpService()

    const response = await post("/executions", body)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
    expect(operations.calls).toEqual([])
  })

  test("says where the parameters are wrong", async () => {
    const { post } = httpService()

    const response = await post("/executions", { command: "make", terminal: { cols: 0, rows: 24 } })

    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringContaining("terminal.cols"),
        data: { issues: [{ path: ["terminal", "cols"] }] },
      },
    })
  })

  test.each(Reason.options)("passes on a refusal with %s", async (reason) => {
    const { operations, post } = httpService()
    operations.refusal = failure(reason, "No.", { retry_after: 1.5 })

    const response = await post("/executions", { command: "make" })

    expect(response.headers.get("retry-after")).toBe("2")
    expect(response.status).toBe(wireCodes(reason).http)
    expect(await response.json()).toEqual({
      error: { code: wireCodes(reason).rpc, message: "No.", data: { reason, retry_after: 1.5 } },
    })
  })
})

describe("listing executions", () => {
  test("asks for all of them without a query", async () => {
    const { operations, get, run } = httpService()
    const { execution } = run()

    const response = await get("/executions")

    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({
      executions: [{ execution_id: execution.record.id, state: "running" }],
      cursor: "more",
    })
    expect(operations.calls[0]?.given).toEqual({ limit: 100, labels: undefined })
  })

  test("asks with state, limit, cursor and labels", async () => {
    const { operations, get } = httpService()

    await get("/executions?state=ended&limit=5&cursor=abc&label=job:7&label=url:http://x")

    expect(operations.calls[0]?.given).toEqual({
      state: "ended",
      limit: 5,
      cursor: "abc",
      labels: { job: "7", url: "http://x" },
    })
  })

  test.each([
    "state=gone",
    "limit=0",
    "limit=1001",
    "limit=many",
    "limit=1.5",
    "limit=5&limit=6",
    "label=job",
    "label=:7",
    "label=job:7&label=job:8",
    `label=job:${"x".repeat(257)}`,
    `cursor=${"x".repeat(65)}`,
  ])("refuses %s", async (query) => {
    const { operations, get } = httpService()

    const response = await get(`/executions?${query}`)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
    expect(operations.calls).toEqual([])
  })
})
