import { describe, expect, test } from "bun:test"
import {
  decodeSessionId,
  encodeSessionId,
  mostSessionIdLength,
} from "../../../src/bridge/clients/session-id.ts"

const random = () => crypto.getRandomValues(new Uint8Array(16))
const initialize = '{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"é"}}'
const resumeState = { initialize, targetSession: "abc", version: "2025-11-25" }

describe("the id of a session", () => {
  test("is the session: what is needed to open it again", () => {
    const id = encodeSessionId(resumeState, random())

    expect(id).toMatch(/^[\w-]+$/)
    expect(decodeSessionId(id ?? "")).toEqual(resumeState)
  })

  test("is another one each time, also for the same client", () => {
    expect(encodeSessionId(resumeState, random())).not.toBe(encodeSessionId(resumeState, random()))
  })

  test("leaves out what a client says of itself at length", () => {
    const icons = [{ src: `data:image/png;base64,${"A".repeat(100_000)}` }]
    const params = { protocolVersion: "x", clientInfo: { name: "n", version: "1", icons } }
    const long = { ...resumeState, initialize: JSON.stringify(params) }

    const id = encodeSessionId(long, random())

    expect(id?.length).toBeLessThan(mostSessionIdLength)
    expect(JSON.parse(decodeSessionId(id ?? "")?.initialize ?? "")).toEqual({
      protocolVersion: "x",
      clientInfo: { name: "n", version: "1" },
    })
  })

  test("is made of parameters that are nested without end, or refused", () => {
    const deep = `${"[".repeat(60_000)}${"]".repeat(60_000)}`
    const inClient = `{"clientInfo":{"name":"n","version":"1","icons":${deep}}}`
    const inOther = `{"capabilities":${deep},"clientInfo":{"name":{"toString":1}}}`

    expect(encodeSessionId({ ...resumeState, initialize: inClient }, random())).not.toBeNull()
    expect(encodeSessionId({ ...resumeState, initialize: inOther }, random())).toBeNull()
  })

  test("is refused where even that is too long", () => {
    const params = JSON.stringify({ capabilities: "x".repeat(mostSessionIdLength) })

    expect(encodeSessionId({ ...resumeState, initialize: params }, random())).toBeNull()
  })

  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
  test.each([
    ["empty", ""],
    ["no base64", "!!!"],
    ["no JSON", "abcd"],
    ["another version", forged([2, "n", "{}", null, null])],
    ["no list", forged({ initialize: "{}" })],
    ["parameters that are no object", forged([1, "n", "[]", null, null])],
    ["parameters that are no JSON", forged([1, "n", "{", null, null])],
    ["a target's id that is no text", forged([1, "n", "{}", 5, null])],
    ["too long", forged([1, "n", `{"a":"${"x".repeat(5_000)}"}`, null, null])],
  ])("is not known when it is %s", (_, id) => {
    expect(decodeSessionId(id)).toBeNull()
  })
})
