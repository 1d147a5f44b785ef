import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { EventReader } from "../../../../src/bridge/targets/http/event-reader.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("a stream of events", () => {
  test("gives data, ids and the time to wait", () => {
    const reader = new EventReader(1_000)

    const events = reader.take(
      bytes(": hello\nid: 7\nretry: 250\ndata: {\ndata: }\n\nevent: message\r\ndata:x\r\n\r\n"),
    )

    expect(events).toEqual([
      { data: "{\n}", id: "7", retryMs: 250 },
      { data: "x", id: null, retryMs: null },
    ])
    expect(reader.isInside).toBe(false)
  })

  test("is the same wherever it is cut", () => {
    const text = 'id: 1\r\ndata: {"a":"é€😀"}\r\n\r\ndata: two\n\ndata: three\n\n'
    const whole = new EventReader(1_000).take(bytes(text))
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes(text).length })), (cuts) => {
        const reader = new EventReader(1_000)
        const places = [0, ...cuts.toSorted((a, b) => a - b), bytes(text).length]

        const events = places
          .slice(1)
          .flatMap((end, at) => reader.take(bytes(text).subarray(places[at], end)) ?? [])

        expect(events).toEqual(whole ?? [])
      }),
    )
  })

  test("says when it ended inside of an event", () => {
    const reader = new EventReader(1_000)

    expect(reader.take(bytes('data: {"half'))).toEqual([])

    expect(reader.isInside).toBe(true)
  })

  test("has no event that is too large, in one line or in many", () => {
    expect(new EventReader(100).take(bytes(`data: ${"x".repeat(200)}`))).toBeNull()
    const reader = new EventReader(100)
    const pieces = Array.from({ length: 50 }, () => reader.take(bytes("data: x\n")))
    expect(pieces.at(-1)).toBeNull()
  })
})
