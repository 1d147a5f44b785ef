import { expect, test } from "bun:test"
import fc from "fast-check"
import { verifyLedger } from "../../../src/workflow/ledger/verify-ledger.ts"
import { SignedChain } from "../../support/signed-trials.ts"

const chain = new SignedChain()
chain.addAll(3)
const context = chain.context()

test("any byte of a ledger that is another one is found", () => {
  const bytes = new TextEncoder().encode(chain.text)
  fc.assert(
    fc.property(fc.nat({ max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, by) => {
      const changed = bytes.with(at, (bytes[at] ?? 0) ^ by)
      const { damages } = verifyLedger(new TextDecoder().decode(changed), context)
      // Only the last line end is part of no line.
      expect(damages.length > 0 || at === bytes.length - 1).toBe(true)
    }),
    { numRuns: 300 },
  )
})

test("any piece that is gone or repeated is found", () => {
  const { text } = chain
  const offset = fc.nat({ max: text.length - 2 })
  fc.assert(
    fc.property(offset, offset, fc.boolean(), (one, other, repeats) => {
      const [from, to] = [Math.min(one, other), Math.max(one, other) + 1]
      const changed = repeats
        ? text.slice(0, to) + text.slice(from)
        : text.slice(0, from) + text.slice(to)
      expect(verifyLedger(changed, context).damages.length).toBeGreaterThan(0)
    }),
    { numRuns: 200 },
  )
})
