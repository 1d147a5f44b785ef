import { describe, expect, test } from "bun:test"
import { fisherExact } from "../../../src/workflow/ledger/fisher.ts"

const counts = (text: string) => {
  const [success = 0, failure = 0] = text.split(":").map(Number)
  return { success, failure }
}

describe("Fisher's exact test, two-sided", () => {
  // Worked out by hand: 2 · C(10,6) / C(20,4), and 2 · C(10,5) / C(20,5).
  test.each([
    ["10:0", "6:4", (2 * 210) / 4845, "0.087"],
    ["10:0", "5:5", (2 * 252) / 15_504, "0.033"],
    // The tea of the lady: 3 of 4 cups.
    ["3:1", "1:3", 34 / 70, "0.486"],
    // Groups of two sizes: only what is as unlikely or more counts of the other side.
    ["8:2", "1:5", 0.034965034965, "0.035"],
    ["10:0", "10:0", 1, "1.000"],
    ["0:0", "7:3", 1, "1.000"],
    ["0:0", "0:0", 1, "1.000"],
  ])("of %s and %s", (one, other, exact, shown) => {
    const p = fisherExact(counts(one), counts(other))

    expect(p).toBeCloseTo(exact, 9)
    expect(p.toFixed(3)).toBe(shown)
    expect(fisherExact(counts(other), counts(one))).toBeCloseTo(p, 12)
  })

  test("of a thousand trials each", () => {
    expect(fisherExact(counts("500:500"), counts("500:500"))).toBeCloseTo(1, 9)
    expect(fisherExact(counts("1000:0"), counts("0:1000"))).toBeLessThan(1e-100)
  })
})
