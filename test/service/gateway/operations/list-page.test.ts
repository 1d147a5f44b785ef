import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { ExecutionRecord } from "../../../../src/execution/record.ts"
import { listPage } from "../../../../src/service/gateway/operations/list-page.ts"
import type { ListPage } from "../../../../src/service/gateway/ports.ts"
import { sampleId, sampleRecord, sampleSpec } from "../../../support/sample-record.ts"

/** A journal of executions whose arguments have these lengths; it counts what it was asked for. */
function journalOf(lengths: number[]) {
  const all = lengths.map((length, number): ExecutionRecord => {
    const spec = { ...sampleSpec, argv: ["true", "x".repeat(length)] }
    return sampleRecord({ id: sampleId(number), spec })
  })
  const journal = {
    mostAtOnce: 0,
    list({ limit, cursor = "0" }: { limit: number; cursor?: string | undefined }): ListPage | null {
      if (cursor === "none") return null
      const end = Number(cursor) + limit
      journal.mostAtOnce = Math.max(journal.mostAtOnce, limit)
      const records = all.slice(Number(cursor), end)
      return { records, cursor: end < all.length ? String(end) : null }
    },
  }
  return { all, journal }
}

describe("a page of the list", () => {
  test("has as many executions as were asked for, and the cursor to continue from", async () => {
    const { all, journal } = journalOf(Array.from({ length: 100 }, () => 10))

    expect(await listPage(journal, { limit: 50 }, null)).toEqual({
      records: all.slice(0, 50),
      cursor: "50",
    })
    expect(await listPage(journal, { limit: 100 }, null)).toEqual({ records: all, cursor: null })
    const last = await listPage(journal, { limit: 3, cursor: "98" }, null)
    expect(last?.records).toEqual(all.slice(98))
    expect(await listPage(journal, { limit: 3, cursor: "none" }, null)).toBeNull()
    expect(journal.mostAtOnce).toBeLessThan(10)
  })

  test("is shorter where executions are large, and pages are all of them, once", async () => {
    const length = fc.oneof(fc.nat(100), fc.constant(2_000_000))
    await fc.assert(
      fc.asyncProperty(
        fc.array(length, { maxLength: 60 }),
        fc.integer({ min: 1, max: 70 }),
        async (lengths, limit) => {
          const { all, journal } = journalOf(lengths)
          const listed: ExecutionRecord[] = []
          for (let cursor: string | undefined; ; ) {
            const page = await listPage(journal, { limit, cursor }, null)
            const large =
              page?.records.filter(({ spec }) => (spec.argv[1]?.length ?? 0) > 1000) ?? []
            expect(large.length).toBeLessThanOrEqual(2 + 8)
            listed.push(...(page?.records ?? []))
            cursor = page?.cursor ?? undefined
            if (cursor === undefined) break
          }
          expect(listed.map(({ id }) => id)).toEqual(all.map(({ id }) => id))
        },
      ),
      { numRuns: 50 },
    )
  })
})
