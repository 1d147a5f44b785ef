import { describe, expect, test } from "bun:test"
import { CollectionPace } from "../../src/process/collection-pace.ts"

const mebibyte = 1024 * 1024

/** A process of so many mebibytes; counts how often its garbage was collected. */
function stage(residentMb: number) {
  const seen = { collections: 0 }
  const pace = new CollectionPace(100 * mebibyte, 80, {
    residentBytes: () => residentMb * mebibyte,
    collect: () => {
      seen.collections += 1
    },
  })
  return { pace, seen }
}

describe("garbage", () => {
  test("of a small process is collected after so many bytes", () => {
    const { pace, seen } = stage(60)

    for (let mb = 0; mb < 99; mb += 1) pace.passed(mebibyte)
    expect(seen.collections).toBe(0)
    pace.passed(mebibyte)

    expect(seen.collections).toBe(1)
  })

  test("of a large process is collected five times as often, and no more", () => {
    const { pace, seen } = stage(90)

    for (let mb = 0; mb < 100; mb += 1) pace.passed(mebibyte)

    expect(seen.collections).toBe(5)
  })
})
