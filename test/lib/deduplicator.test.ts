import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { Deduplicator } from "../../src/lib/deduplicator.ts"

describe("repeats", () => {
  test("are told once at once, and then as a number when the window is over", () => {
    const deduplicator = new Deduplicator<string>(1000, 10)
    expect(deduplicator.add("a", "first", 0)).toBe("first")
    expect(deduplicator.add("a", "second", 10)).toBe("counted")
    expect(deduplicator.add("a", "third", 20)).toBe("counted")

    expect(deduplicator.due(999)).toEqual([])
    expect(deduplicator.due(1000)).toEqual([{ entry: "first", count: 2 }])
    expect(deduplicator.due(2000)).toEqual([])
    expect(deduplicator.isEmpty).toBe(true)
  })

  test("of more kinds than can be kept are not taken", () => {
    const deduplicator = new Deduplicator<string>(1000, 1)
    deduplicator.add("a", "a", 0)

    expect(deduplicator.add("b", "b", 0)).toBe("full")
    expect(deduplicator.add("a", "a", 0)).toBe("counted")
  })

  test("add up, whenever they come", () => {
    const times = fc.array(
      fc.record({ kind: fc.constantFrom("a", "b", "c"), afterMs: fc.nat(1500) }),
    )
    fc.assert(
      fc.property(times, (comings) => {
        const deduplicator = new Deduplicator<string>(1000, 2)
        const told = new Map<string, number>()
        const tell = (kind: string, count: number) => told.set(kind, (told.get(kind) ?? 0) + count)
        const tellDue = (ms: number) => {
          for (const { entry, count } of deduplicator.due(ms)) tell(entry, count)
        }
        let nowMs = 0
        for (const { kind, afterMs } of comings) {
          nowMs += afterMs
          tellDue(nowMs)
          if (deduplicator.add(kind, kind, nowMs) !== "counted") tell(kind, 1)
        }
        tellDue(Number.POSITIVE_INFINITY)

        for (const kind of ["a", "b", "c"]) {
          expect(told.get(kind) ?? 0).toBe(comings.filter((one) => one.kind === kind).length)
        }
      }),
    )
  })
})
