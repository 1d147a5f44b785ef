import { describe, expect, test } from "bun:test"
import { failure } from "../../../../../src/protocol/failure.ts"
import { httpService, refusalOf, rejectionOf } from "../http-service.ts"

describe("raw output of an execution that has ended", () => {
  test("is the exact bytes of standard output", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write(new Uint8Array([0, 255, 10]))
    execution.write("to stderr", "stderr")
    execution.write("and on")
    execution.end()

    const response = await get(`${path}/output`)

    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("application/octet-stream")
    expect(response.headers.get("x-cc-execution-state")).toBe("ended")
    expect(response.headers.get("x-cc-available-from")).toBe("c0")
    const all = Buffer.concat([new Uint8Array([0, 255, 10]), Buffer.from("and on")])
    expect(Buffer.from(await response.arrayBuffer())).toEqual(all)
    expect(execution.feeds.size).toBe(0)
  })

  test("is of standard error if asked, from a cursor if asked", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    for (const part of ["a", "b", "c"]) execution.write(part, "stderr")
    execution.write("x")
    execution.end()

    const response = await get(`${path}/output?stream=stderr&from=c1`)

    expect(await response.text()).toBe("bc")
  })

  test("is empty if nothing was written", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.end()

    expect(await (await get(`${path}/output`)).text()).toBe("")
    expect(execution.feeds.size).toBe(0)
  })
})

describe("raw output of an execution that runs", () => {
  test("goes on until it ends", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("one ")

    const response = await get(`${path}/output`)
    const text = response.text()
    execution.write("two ")
    execution.write("not this", "stderr")
    execution.happen({ kind: "paused" })
    execution.happen({ kind: "resumed" })
    execution.write("three")
    execution.end()

    expect(response.headers.get("x-cc-execution-state")).toBe("running")
    expect(await text).toBe("one two three")
    expect(execution.feeds.size).toBe(0)
  })

  test("begins at the present end with from=tail", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("before")

    const response = await get(`${path}/output?from=tail`)
    execution.write("after")
    execution.end()

    expect(await response.text()).toBe("after")
  })

  test("ends at the present end with follow=false, and says where to go on", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("one ")
    execution.write("two ")

    const first = await get(`${path}/output?follow=false`)
    execution.write("three")
    const next = first.headers.get("x-cc-next")
    const second = await get(`${path}/output?follow=false&from=${next}`)

    expect(await first.text()).toBe("one two ")
    expect(next).toBe("c2")
    expect(await second.text()).toBe("three")
    expect(second.headers.get("x-cc-next")).toBe("c3")
    expect(execution.feeds.size).toBe(0)
  })

  test("ends at the present end of both streams, also without any of the asked one", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("to stderr", "stderr")

    const response = await get(`${path}/output?follow=false`)

    expect(await response.text()).toBe("")
    expect(response.headers.get("x-cc-next")).toBe("c1")
  })

  test("is disposed when its reader leaves, while it waits", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    const response = await get(`${path}/output`)
    const reader = response.body?.getReader()
    const read = reader?.read()

    await reader?.cancel()

    expect((await read)?.done).toBe(true)
    expect(execution.feeds.size).toBe(0)
  })

  test("is disposed when only its headers were asked for", async () => {
    const { app, run } = httpService()
    const { execution, path } = run()
    execution.write("one")

    const response = await app.request(`${path}/output`, { method: "HEAD" })

    expect(response.headers.get("x-cc-execution-state")).toBe("running")
    expect(response.body).toBeNull()
    expect(execution.feeds.size).toBe(0)
  })
})

describe("raw output of which something is forgotten", () => {
  test("is refused from the start, and says where it could begin", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    for (const part of ["a", "b", "c"]) execution.write(part)
    execution.happen({ kind: "paused" })
    execution.forgetBefore(2)

    const refused = await get(`${path}/output`)
    const from = refused.headers.get("x-cc-available-from")
    const allowed = await get(`${path}/output?follow=false&from=${from}`)

    expect(await refusalOf(refused)).toEqual([410, "EXPIRED"])
    expect(from).toBe("c2")
    expect(await allowed.text()).toBe("c")
    expect(execution.feeds.size).toBe(0)
  })

  test("is aborted in the middle, never continued behind the gap", async () => {
    const { get, run } = httpService()
    const { execution, path } = run()
    execution.write("a")
    const response = await get(`${path}/output`)
    const reader = response.body?.getReader()
    const first = await reader?.read()
    for (const part of ["b", "c"]) execution.write(part)
    execution.forgetBefore(2)

    const second = reader?.read()

    expect(new TextDecoder().decode(first?.value)).toBe("a")
    expect(String(await rejectionOf(second))).toContain("no longer kept")
    expect(execution.feeds.size).toBe(0)
  })
})

test("a failure of the record is refused at the beginning and aborts in the middle", async () => {
  const { get, run } = httpService()
  const { execution, path } = run()
  execution.write("a")
  execution.fail(failure("INTERNAL", "The transcript is damaged."))

  const whole = (await get(`${path}/output`)).text()
  const refused = await get(`${path}/output?from=c1`)

  expect(String(await rejectionOf(whole))).toContain("damaged")
  expect(await refusalOf(refused)).toEqual([500, "INTERNAL"])
  expect(execution.feeds.size).toBe(0)
})

test.each(["from=nonsense", "from=", "stream=both", "follow=1", "encoding=binary"])(
  "?%s is refused",
  async (query) => {
    const { get, run } = httpService()
    const { execution, path } = run()

    const response = await get(`${path}/output?${query}`)

    expect(await refusalOf(response)).toEqual([400, "INVALID_PARAMS"])
    expect(execution.feeds.size).toBe(0)
  },
)
