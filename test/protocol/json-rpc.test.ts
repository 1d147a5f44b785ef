import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { failure } from "../../src/protocol/failure.ts"
import {
  errorMessage,
  notificationMessage,
  readRequest,
  resultMessage,
} from "../../src/protocol/json-rpc.ts"

describe("a request", () => {
  test("is read with its id, its method and its parameters", () => {
    const request = { jsonrpc: "2.0", id: "a", method: "list", params: { limit: 1 } } as const
    expect(readRequest(JSON.stringify(request))).toEqual({ ok: true, value: request })
  })

  test("may have no id, and then is a notification", () => {
    const read = readRequest('{"jsonrpc":"2.0","method":"list"}')
    expect(read).toEqual({ ok: true, value: { jsonrpc: "2.0", method: "list" } })
  })

  test.each([[1], [0], [-1], [1.5], [""], ["x"]])("may have the id %p", (id) => {
    const read = readRequest(JSON.stringify({ jsonrpc: "2.0", id, method: "list" }))
    expect(read).toMatchObject({ ok: true, value: { id } })
  })
})

describe("any request", () => {
  const id = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double({ noDefaultInfinity: true, noNaN: true }).filter((number) => !Object.is(number, -0)),
  )
  const request = fc.record(
    { jsonrpc: fc.constant("2.0" as const), id, method: fc.string(), params: fc.jsonValue() },
    { requiredKeys: ["jsonrpc", "method"] },
  )

  test("comes back as it went out, whatever stands beside it", () => {
    fc.assert(
      fc.property(request, fc.dictionary(fc.string(), fc.jsonValue()), (sent, extra) => {
        const value = JSON.parse(JSON.stringify(sent))
        const text = JSON.stringify({ ...extra, ...sent })
        const names = ["jsonrpc", "id", "method", "params"]
        if (Object.keys(extra).some((name) => names.includes(name))) return
        expect(readRequest(text)).toEqual({ ok: true, value })
      }),
      { numRuns: 1000 },
    )
  })

  test("with one field of another type is refused, with its id where that is one", () => {
    const fields = fc.constantFrom("jsonrpc", "id", "method")
    const wrong = fc.oneof(fc.constant(null), fc.boolean(), fc.array(fc.jsonValue()), fc.object())
    fc.assert(
      fc.property(request, fields, wrong, (sent, name, value) => {
        const read = readRequest(JSON.stringify({ ...sent, [name]: value }))
        const failed = read.ok ? null : read.failure
        expect(failed?.failure.reason).toBe("INVALID_REQUEST")
        expect(failed?.id).toEqual(name === "id" ? null : (sent.id ?? null))
      }),
      { numRuns: 1000 },
    )
  })

  test("is never read from a part of it", () => {
    fc.assert(
      fc.property(request, fc.nat(), (sent, at) => {
        const text = JSON.stringify(sent)
        const read = readRequest(text.slice(0, at % text.length))
        expect(read).toMatchObject({ ok: false, failure: { failure: { reason: "PARSE_ERROR" } } })
      }),
    )
  })
})

describe("what is no request", () => {
  const cases: [string, string, string | number | null][] = [
    ["", "PARSE_ERROR", null],
    ["{", "PARSE_ERROR", null],
    ["\u0000", "PARSE_ERROR", null],
    ["[]", "INVALID_REQUEST", null],
    ['[{"jsonrpc":"2.0","id":1,"method":"list"}]', "INVALID_REQUEST", null],
    ["null", "INVALID_REQUEST", null],
    ['{"jsonrpc":"2.0","id":7}', "INVALID_REQUEST", 7],
    ['{"id":"x","method":"list"}', "INVALID_REQUEST", "x"],
    ['{"jsonrpc":"2.0","id":[1],"method":"list"}', "INVALID_REQUEST", null],
  ]
  test.each(cases)("%p is refused as %s, for the id %p", (text, reason, id) => {
    expect(readRequest(text)).toMatchObject({ ok: false, failure: { id, failure: { reason } } })
  })

  test("never throws, whatever it is", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json({ maxDepth: 6 })), (text) => {
        const read = readRequest(text)
        if (read.ok) expect(read.value.jsonrpc).toBe("2.0")
        else expect(["PARSE_ERROR", "INVALID_REQUEST"]).toContain(read.failure.failure.reason)
      }),
      { numRuns: 2000 },
    )
  })

  test("may be nested as deep as a message is long", () => {
    const nested = `${'{"a":'.repeat(500_000)}1${"}".repeat(500_000)}`
    expect(readRequest(nested).ok).toBe(false)
    expect(readRequest("[".repeat(1_000_000)).ok).toBe(false)
  })
})

describe("a message", () => {
  test("has the shape of JSON-RPC 2.0", () => {
    expect(JSON.parse(resultMessage(3, { a: 1 }))).toEqual({
      jsonrpc: "2.0",
      id: 3,
      result: { a: 1 },
    })
    expect(JSON.parse(errorMessage(null, failure("PARSE_ERROR", "No JSON.")))).toEqual({
      jsonrpc: "2.0",
      id: null,
      error: { code: -32700, message: "No JSON.", data: { reason: "PARSE_ERROR" } },
    })
    expect(JSON.parse(notificationMessage("connected", { version: "1" }))).toEqual({
      jsonrpc: "2.0",
      method: "connected",
      params: { version: "1" },
    })
  })
})
