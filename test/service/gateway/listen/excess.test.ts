import { describe, expect, test } from "bun:test"
import { excess, type Holding } from "../../../../src/service/gateway/listen/excess.ts"

const bounds = { most: 8, mostOfOne: 4 }

describe("what has to be given up", () => {
  test("is nothing within the bounds", () => {
    expect(excess([...of("a", 4), ...of("b", 4)], bounds)).toEqual([])
    expect(excess([], bounds)).toEqual([])
  })

  test("is the oldest of an owner that has more than its share", () => {
    const given = excess([...of("a", 6), ...of("b", 2)], bounds)

    expect(given).toEqual([held("a", 0), held("a", 1)])
  })

  test("is of those who have most when all together are too many", () => {
    const all = [...of("a", 4), ...of("b", 4), ...of("c", 1), ...of("d", 2)]

    const given = excess(all, bounds)

    expect(given).toEqual([held("a", 0), held("a", 1), held("b", 0), held("b", 1)])
  })

  test("is the oldest of all when even one each is too many", () => {
    const all = Array.from({ length: 10 }, (_, index) => held(`owner ${index}`, index))

    expect(excess(all, bounds)).toEqual(all.slice(0, 2))
  })

  test("goes by amounts, and one that fits into the whole may exceed a share", () => {
    const large = { owner: "a", sinceMs: 5, amount: 7 }
    const older = { owner: "a", sinceMs: 4, amount: 1 }
    const other = { owner: "b", sinceMs: 1, amount: 1 }

    expect(excess([large, older, other], bounds)).toEqual([older])
  })
})

function held(owner: string, sinceMs: number): Holding {
  return { owner, sinceMs, amount: 1 }
}

function of(owner: string, count: number): Holding[] {
  return Array.from({ length: count }, (_, index) => held(owner, index))
}
