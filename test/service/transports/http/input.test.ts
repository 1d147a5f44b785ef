import { describe, expect, test } from "bun:test"
import { failure } from "../../../../src/protocol/failure.ts"
import { maxInputBytes } from "../../../../src/protocol/methods.ts"
import { httpService, refusalOf } from "./http-service.ts"

const binary = { "Content-Type": "application/octet-stream" }

describe("input as JSON", () => {
  test("is text by default", async () => {
    const { operations, post, run } = httpService()
    const { execution, path } = run()

    const response = await post(`${path}/input`, { data: "né\n", end: true, offset: 7 })

    expect(await response.json()).toEqual({ accepted: 4, offset: 4 })
    expect(operations.calls[0]?.given).toEqual({
      executionId: execution.record.id,
      input: { data: new TextEncoder().encode("né\n"), end: true, offset: 7 },
    })
  })

  test("is exact in base64", async () => {
    const { operations, post, run } = httpService()

    await post(`${run().path}/input`, { data: "AP8=", encoding: "base64" })

    const input = { data: new Uint8Array([0, 255]), end: false, offset: undefined }
    expect(operations.calls[0]?.given).toMatchObject({ input })
  })

  test.each([
    { data: "not base64!", encoding: "base64" },
    { data: "x", encoding: "binary" },
    { data: "x", offset: -1 },
    { data: 7 },
  ])("is refused: %j", async (body) => {
    const { operations, post, run } = httpService()

    const response = await post(`${run().path}/input`, body)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
    expect(operations.calls).toEqual([])
  })

  test("has at most 1 MiB once it is decoded", async () => {
    const { operations, post, run } = httpService()
    const { path } = run()
    const most = new Uint8Array(maxInputBytes).toBase64()
    const more = new Uint8Array(maxInputBytes + 1).toBase64()

    const taken = await post(`${path}/input`, { data: most, encoding: "base64" })
    const refused = await post(`${path}/input`, { data: more, encoding: "base64" })

    expect(taken.status).toBe(200)
    expect(await refusalOf(refused)).toEqual([413, "INVALID_PARAMS"])
    expect(operations.calls).toHaveLength(1)
  })
})

describe("input as raw bytes", () => {
  test("is written as it is", async () => {
    const { app, operations, run } = httpService()
    const { path } = run()
    const body = new Uint8Array([1, 0, 255])

    const response = await app.request(`${path}/input?end=true&offset=3`, {
      method: "POST",
      headers: binary,
      body,
    })

    expect(await response.json()).toEqual({ accepted: 3, offset: 3 })
    expect(operations.calls[0]?.given).toMatchObject({
      input: { data: body, end: true, offset: 3 },
    })
  })

  test("may be nothing but the end", async () => {
    const { operations, post, run } = httpService()

    await post(`${run().path}/input?end=true`, "", binary)

    expect(operations.calls[0]?.given).toMatchObject({
      input: { data: new Uint8Array(0), end: true },
    })
  })

  test.each(["end=yes", "offset=-1", "offset=x"])("is refused: ?%s", async (query) => {
    const { post, run } = httpService()

    const response = await post(`${run().path}/input?${query}`, "x", binary)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
  })

  test("has at most 1 MiB", async () => {
    const { post, run } = httpService()

    const response = await post(`${run().path}/input`, "x".repeat(maxInputBytes + 1), binary)

    expect(await refusalOf(response)).toEqual([413, "INVALID_PARAMS"])
  })
})

test("input that the child does not take is refused", async () => {
  const { operations, post, run } = httpService()
  operations.refusal = failure("WRONG_STATE", "Its input is closed.", { state: "running" })

  const response = await post(`${run().path}/input`, { data: "x" })

  expect(await refusalOf(response)).toEqual([409, "WRONG_STATE"])
})

test("input of another type is refused", async () => {
  const { post, run } = httpService()

  const response = await post(`${run().path}/input`, "x", { "Content-Type": "text/plain" })

  expect(await refusalOf(response)).toEqual([415, "INVALID_REQUEST"])
})
