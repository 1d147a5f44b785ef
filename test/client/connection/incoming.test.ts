import { describe, expect, test } from "bun:test"
import { readIncoming } from "../../../src/client/connection/incoming.ts"

const output = {
  execution_id: "a",
  type: "stdout",
  data: "text",
  sequence: 0,
  next: "cursor",
  time: "2026-01-01T00:00:00.000Z",
  truncated: false,
}

function notification(method: string, params: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params })
}

describe("output", () => {
  test("is read, with what a newer server adds", () => {
    const params = { ...output, lossy: 2, novelty: true }

    const incoming = readIncoming(notification("process.output", params))

    expect(incoming).toMatchObject({ kind: "output", output })
  })

  test.each([
    { type: "stdin" },
    { data: 5 },
    { next: null },
    { sequence: "0" },
    { time: 0 },
    { truncated: "no" },
    { encoding: "base32" },
    { lossy: "2" },
  ])("with %j is not taken for output", (wrong) => {
    const incoming = readIncoming(notification("process.output", { ...output, ...wrong }))

    expect(incoming).toMatchObject({ kind: "unreadable-notice", executionId: "a" })
  })
})

describe("a refusal", () => {
  test("for a reason this client does not know still answers its request", () => {
    const error = { code: -32099, message: "The moon is full.", data: { reason: "MOON" } }

    const incoming = readIncoming(JSON.stringify({ jsonrpc: "2.0", id: 7, error }))

    expect(incoming).toMatchObject({
      kind: "refusal",
      id: 7,
      failure: { reason: "INTERNAL", message: "The moon is full." },
    })
  })

  test("keeps its details", () => {
    const data = { reason: "RATE_LIMITED", retry_after: 2 }
    const error = { code: -32005, message: "Not so fast.", data }

    const incoming = readIncoming(JSON.stringify({ jsonrpc: "2.0", id: null, error }))

    expect(incoming).toEqual({
      kind: "refusal",
      id: null,
      failure: { reason: "RATE_LIMITED", message: "Not so fast.", details: { retry_after: 2 } },
    })
  })
})

describe("what is not of this version", () => {
  test.each([
    notification("process.dreamt", { execution_id: "a" }),
    notification("toString", {}),
    `{"jsonrpc":"2.0","id":"text","result":{}}`,
    `{"jsonrpc":"2.0"}`,
  ])("%s is ignored", (text) => {
    expect(readIncoming(text)).toEqual({ kind: "unknown" })
  })

  test.each(["", "[", "5", notification("process.output", {}), new ArrayBuffer(3), null])(
    "%p is garbage",
    (data) => {
      expect(readIncoming(data)).toMatchObject({ kind: "garbage" })
    },
  )
})
