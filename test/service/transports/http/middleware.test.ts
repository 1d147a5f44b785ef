import { describe, expect, test } from "bun:test"
import { failure as failed } from "../../../../src/protocol/failure.ts"
import { httpService, refusalOf } from "./http-service.ts"

describe("every refusal", () => {
  test("is told with who asked, from where, and what for", async () => {
    const { app, operations, refusals } = httpService()
    const { id } = operations.add().record
    const unix = { peer: { kind: "unix" } } as const

    await app.request(`/executions/${id}`, { headers: { Authorization: "Bearer wrong" } }, unix)
    await app.request("/executions?limit=none", {}, unix)
    await app.request("/nothing", {}, unix)
    await app.request("/executions", { headers: { Origin: "https://evil.example" } })

    const facts = refusals.refusals.map(({ failure, ...asked }) => [failure.reason, asked])
    const via = "http"
    expect(facts).toEqual([
      [
        "UNAUTHORIZED",
        { principal: null, address: "unix", via, method: "status", executionId: id },
      ],
      [
        "INVALID_PARAMS",
        { principal: "alice", address: "unix", via, method: "list", executionId: undefined },
      ],
      ["METHOD_NOT_FOUND", { principal: null, address: "unix", via, method: "GET" }],
      ["FORBIDDEN", { principal: null, address: "unknown", via, method: "GET" }],
    ])
  })

  test("is held before it is told, so that who asks too fast must wait", async () => {
    const { get, operations, held } = httpService()
    operations.refusal = failed("RATE_LIMITED", "slowly", { retry_after: 1 })

    const response = await get("/executions")

    expect(await refusalOf(response)).toEqual([429, "RATE_LIMITED"])
    expect(held).toEqual(["RATE_LIMITED"])
  })

  test("and nothing else", async () => {
    const { get, run, refusals } = httpService()
    await get(run().path)
    await get("/health")

    expect(refusals.refusals).toEqual([])
  })
})

describe("a request's id", () => {
  test("is the one it came with, in the answer and in the log", async () => {
    const { get, lines } = httpService()

    const response = await get("/health?secret=1", { "X-Request-Id": "ci-7/build.3" })

    expect(response.headers.get("x-request-id")).toBe("ci-7/build.3")
    expect(lines).toMatchObject([
      {
        level: "debug",
        event: "http request",
        facts: { requestId: "ci-7/build.3", method: "GET", path: "/health", status: 200 },
      },
    ])
    expect(JSON.stringify(lines)).not.toContain("secret")
  })

  test.each([["x".repeat(65)], ["two words"], ['"quoted"'], [""]])(
    "is made where %p is none",
    async (given) => {
      const { get } = httpService()

      const response = await get("/health", { "X-Request-Id": given })

      expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/)
    },
  )

  test("is also on refusals and streams", async () => {
    const { get } = httpService()

    const refused = await get("/nothing")
    const stream = await get("/events")

    expect(refused.headers.get("x-request-id")).not.toBeNull()
    expect(stream.headers.get("x-request-id")).not.toBeNull()
    await stream.body?.cancel()
  })
})

describe("what goes wrong", () => {
  test.each([
    ["GET", "/nothing"],
    ["PUT", "/executions"],
    ["GET", "/executions/aaa/control"],
  ])("%s %s is no route", async (method, path) => {
    const { app } = httpService()

    const response = await app.request(path, { method })

    expect(await refusalOf(response)).toEqual([404, "METHOD_NOT_FOUND"])
  })

  test("is told to the log in full, and to the caller only that it happened", async () => {
    const { operations, get, lines } = httpService()
    operations.bug = new Error("the secret detail")

    const response = await get("/executions", { "X-Request-Id": "r1" })

    const text = await response.text()
    expect(response.status).toBe(500)
    expect(JSON.parse(text)).toMatchObject({
      error: { code: -32603, data: { reason: "INTERNAL", request_id: "r1" } },
    })
    expect(text).not.toContain("secret")
    expect(lines).toMatchObject([
      { level: "error", facts: { requestId: "r1", err: operations.bug } },
      { level: "warn", event: "http request failed", facts: { requestId: "r1", status: 500 } },
    ])
  })

  test("is nobody's failure where the caller went away before its body had come", async () => {
    const { app, lines } = httpService()
    const leaving = new AbortController()
    const body = new ReadableStream({
      pull(stream) {
        leaving.abort()
        stream.error(new DOMException("The connection was closed.", "AbortError")) // as Bun does
      },
    })

    const request = { method: "POST", body, signal: leaving.signal }
    const response = await app.request("/executions", request)

    expect(response.status).toBe(400)
    expect(lines.map(({ level }) => level)).toEqual(["debug", "debug"])
  })

  test("is refused to who may not come in", async () => {
    const { operations, get } = httpService()

    const response = await get("/executions", { Authorization: "Bearer wrong" })

    expect(response.headers.get("www-authenticate")).toBe("Bearer")
    expect(await refusalOf(response)).toEqual([401, "UNAUTHORIZED"])
    expect(operations.calls).toEqual([])
  })
})

describe("a body", () => {
  test.each([
    ["that is not JSON", "{", 400, "PARSE_ERROR"],
    ["that is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), 400, "PARSE_ERROR"],
    ["that is no object", "[]", 400, "INVALID_PARAMS"],
  ])("%s is refused", async (_, body, status, reason) => {
    const { app } = httpService()
    const headers = { "Content-Type": "application/json" }

    const response = await app.request("/executions", { method: "POST", headers, body })

    expect(await refusalOf(response)).toEqual([status, reason])
  })

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])(
    "of type %p is refused, since any page may send it",
    async (type) => {
      const { operations, post } = httpService()

      const response = await post("/executions", { command: "make" }, { "Content-Type": type })

      expect(await refusalOf(response)).toEqual([415, "INVALID_REQUEST"])
      expect(operations.calls).toEqual([])
    },
  )

  test.each(["application/json; charset=utf-8", "Application/JSON", "application/vnd.x+json"])(
    "of type %p is taken",
    async (type) => {
      const { post } = httpService()

      const response = await post("/executions", { command: "make" }, { "Content-Type": type })

      expect(response.status).toBe(201)
    },
  )

  test("may be as large as a message, and not larger", async () => {
    const { post } = httpService({ maxMessageBytes: 100 })
    const body = (bytes: number) => `{"command":"${"x".repeat(bytes - 14)}"}`

    expect((await post("/executions", body(100))).status).toBe(201)
    expect(await refusalOf(await post("/executions", body(101)))).toEqual([413, "INVALID_REQUEST"])
  })

  test("that does not say its length is refused as soon as it is too large", async () => {
    const { app } = httpService({ maxMessageBytes: 100 })
    const body = new ReadableStream({ pull: (sink) => sink.enqueue(new Uint8Array(60)) })
    const headers = { "Content-Type": "application/json", "Transfer-Encoding": "chunked" }

    const response = await app.request("/executions", { method: "POST", headers, body })

    expect(await refusalOf(response)).toEqual([413, "INVALID_REQUEST"])
  })
})

describe("browsers", () => {
  test("are told to keep, guess, frame and run nothing", async () => {
    const { get } = httpService()

    for (const path of ["/health", "/executions", "/nothing"]) {
      const { headers } = await get(path)
      expect(headers.get("cache-control")).toBe("no-store")
      expect(headers.get("x-content-type-options")).toBe("nosniff")
      expect(headers.get("content-security-policy")).toContain("default-src 'none'")
      expect(headers.get("access-control-allow-origin")).toBeNull()
    }
  })

  test("are refused with a page of another site, whatever they ask", async () => {
    const { operations, get, post } = httpService()
    const headers = { Origin: "https://evil.example" }

    expect(await refusalOf(await get("/health", headers))).toEqual([403, "FORBIDDEN"])
    const start = await post("/executions", { command: "make" }, headers)
    expect(await refusalOf(start)).toEqual([403, "FORBIDDEN"])
    expect(operations.calls).toEqual([])
  })

  test("are refused under a name that was rebound, but not over the unix socket", async () => {
    const { app } = httpService()
    const headers = { Host: "evil.example:8003" }

    const overTcp = await app.request("/health", { headers })
    const overUnix = await app.request("/health", { headers }, { peer: { kind: "unix" } })

    expect(await refusalOf(overTcp)).toEqual([403, "FORBIDDEN"])
    expect(overUnix.status).toBe(200)
  })

  test("reach it under a configured name", async () => {
    const { app } = httpService({ allowedHosts: ["executor.internal"] })
    const headers = { Host: "executor.internal:8003" }

    expect((await app.request("/health", { headers })).status).toBe(200)
  })
})

describe("bodies on their way", () => {
  const mebibyte = 1_048_576

  test("are held for whom they are of: so much at once, then it must wait", async () => {
    const { app, operations } = httpService({ maxMessageBytes: 8 * mebibyte })
    const { id } = operations.add().record
    const slow = () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await promise
          controller.close()
        },
      })
      const headers = { "Content-Type": "application/json", "Content-Length": `${8 * mebibyte}` }
      const path = `/executions/${id}/input`
      const request = new Request(`http://localhost${path}`, { method: "POST", headers, body })
      return { answer: app.fetch(request, {}), finish: resolve }
    }
    const waiting = [slow(), slow(), slow()]
    await Bun.sleep(0)

    expect(await refusalOf(await slow().answer)).toEqual([429, "RATE_LIMITED"])
    for (const { finish } of waiting) finish()
    for (const { answer } of waiting) expect((await answer).status).not.toBe(429)
    const again = slow()
    again.finish()
    expect((await again.answer).status).not.toBe(429)
  })
})
