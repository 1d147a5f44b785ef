import { expect, test } from "bun:test"
import { ByteBudget } from "../../src/lib/byte-budget.ts"

test("one holder cannot take what is left to others", () => {
  const budget = new ByteBudget({ limitBytes: 10, limitBytesEach: 6 })

  const first = budget.hold("ann", 6)
  expect(first).not.toBeNull()
  expect(budget.hold("ann", 1)).toBeNull()
  expect(budget.hold("bob", 5)).toBeNull()
  expect(budget.hold("bob", 4)).not.toBeNull()
  first?.[Symbol.dispose]()

  expect(budget.hold("ann", 6)).not.toBeNull()
})
