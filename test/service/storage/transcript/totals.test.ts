import { expect, test } from "bun:test"
import fc from "fast-check"
import { sampleId } from "../../../support/sample-record.ts"
import { bytesOf, noon, temporaryTranscripts } from "./temporary-transcripts.ts"

const anyBudget = fc.record({
  bytes: fc.integer({ min: 1024, max: 4096 }),
  lines: fc.option(fc.integer({ min: 1, max: 50 })),
  policy: fc.constantFrom("drop-oldest" as const, "block" as const),
})
const anyText = fc
  .array(fc.constantFrom("a", "bc", "\n", "line\n", "x".repeat(500), "y\n".repeat(900)))
  .map((parts) => parts.join(""))
const anyStep = fc.record({
  of: fc.constantFrom(0, 1),
  stream: fc.constantFrom("stdout" as const, "stderr" as const),
  text: anyText,
  kind: fc.constantFrom(
    "append" as const,
    "append" as const,
    "discard" as const,
    "forget" as const,
  ),
})

test("the totals of a store are the sum of its transcripts, whatever is forgotten", () => {
  fc.assert(
    fc.property(fc.tuple(anyBudget, anyBudget), fc.array(anyStep), (budgets, steps) => {
      using transcripts = temporaryTranscripts()
      using open = new DisposableStack()
      const writers = budgets.map((budget, at) =>
        open.use(transcripts.store.create(sampleId(at), budget, () => undefined)),
      )

      for (const { of, stream, text, kind } of steps) {
        const writer = writers[of]
        if (kind === "append") writer?.append(stream, bytesOf(text), noon)
        else if (kind === "discard") writer?.discard(bytesOf(text))
        else writer?.forgetBefore(writer.facts().end)
      }

      const facts = writers.map((writer) => writer.facts())
      const { totals } = transcripts.store
      for (const unit of ["bytes", "lines"] as const) {
        const sum = (of: "stdout" | "stderr" | "dropped") =>
          facts.reduce((all, one) => all + one[of][unit], 0)
        expect(totals.stdout[unit]).toBe(sum("stdout"))
        expect(totals.stderr[unit]).toBe(sum("stderr"))
        expect(totals.forgotten[unit] + totals.unrecorded[unit]).toBe(sum("dropped"))
      }
    }),
  )
})
