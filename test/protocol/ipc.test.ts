import { describe, expect, test } from "bun:test"
import { Glob } from "bun"
import fc from "fast-check"
import { GatewaySettings } from "../../src/protocol/gateway-settings.ts"
import {
  GatewayMessage,
  isKeeperMethod,
  KeeperMessage,
  keeperMethods,
} from "../../src/protocol/ipc.ts"
import { sampleRecord } from "../support/sample-record.ts"
import { readSource } from "../support/source-text.ts"

const record = sampleRecord()
const id = record.id
const facts = record.transcript

const keeperMessages: KeeperMessage[] = [
  { kind: "answer", id: 1, result: { record } },
  { kind: "refusal", id: 2, failure: { reason: "INTERNAL", message: "No." } },
  {
    kind: "updates",
    advances: [{ executionId: id, transcript: facts }],
    changes: [],
    resync: false,
  },
  { kind: "updates", advances: [], changes: [record], resync: true },
  { kind: "ping", draining: true },
]
const gatewayMessages: GatewayMessage[] = [
  { kind: "listening", port: 8003 },
  { kind: "cannot-listen", code: "EACCES", message: "No." },
  { kind: "request", id: 3, method: "find", params: { executionId: id } },
  { kind: "updates-received" },
  { kind: "pong", connections: 4 },
]

/** A message with something of it, somewhere inside, replaced by something else. */
const spoilt = fc
  .tuple(
    fc.constantFrom(...keeperMessages, ...gatewayMessages),
    fc.nat(),
    fc.oneof(fc.anything({ withDate: true, withBigInt: true, withMap: true }), fc.jsonValue()),
  )
  .map(([message, at, value]) => {
    const copy: object = structuredClone(message)
    const places = placesIn(copy)
    const place = places[at % places.length]
    if (place !== undefined) Reflect.set(place.within, place.name, value)
    return copy
  })

describe("a message between keeper and gateway", () => {
  test.each(keeperMessages)("of the keeper comes back as it went out: $kind", (message) => {
    expect(KeeperMessage.parse(structuredClone(message))).toEqual(message)
  })

  test.each(gatewayMessages)("of the gateway comes back as it went out: $kind", (message) => {
    expect(GatewayMessage.parse(structuredClone(message))).toEqual(message)
  })

  test("that was spoilt, or is anything at all, is refused or of the right shape", () => {
    fc.assert(
      fc.property(fc.oneof(spoilt, fc.anything()), (raw) => {
        for (const schema of [KeeperMessage, GatewayMessage]) {
          const read = schema.safeParse(raw)
          if (read.success) expect(schema.safeParse(read.data).success).toBe(true)
        }
      }),
      { numRuns: 3000 },
    )
  })

  test("asks for a method by its own name only", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.constantFrom("__proto__", "toString")), (name) => {
        expect(isKeeperMethod(name)).toBe(Object.keys(keeperMethods).includes(name))
      }),
    )
  })
})

describe("what the gateway is told at its start", () => {
  test("has nothing that nobody reads", async () => {
    const files = [...new Glob("src/service/{gateway,transports}/**/*.ts").scanSync(".")]
    const texts = await Promise.all(files.map((file) => Bun.file(file).text()))
    const words = new Set(texts.flatMap((text) => readSource(text).codeOnly.split(/\W+/)))

    const unread = Object.keys(GatewaySettings.shape).filter((name) => !words.has(name))

    expect(unread).toEqual([])
  })
})

function placesIn(value: object): { within: object; name: string }[] {
  return Object.entries(value).flatMap(([name, inner]) => [
    { within: value, name },
    ...(typeof inner === "object" && inner !== null ? placesIn(inner) : []),
  ])
}
