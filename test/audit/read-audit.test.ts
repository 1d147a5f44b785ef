import { describe, expect, test } from "bun:test"
import { appendFileSync } from "node:fs"
import { allLines, FollowedTrail, newestLines } from "../../src/audit/read-audit.ts"
import { WrittenTrail } from "./written-trail.ts"

function numbers(lines: Iterable<{ entry: { number: number } | null }>): Array<number | null> {
  return [...lines].map(({ entry }) => entry?.number ?? null)
}

describe("reading a trail of several files", () => {
  test("gives every line, or the newest of them", () => {
    using trail = new WrittenTrail({ fileBytes: 2000, files: 100 })
    trail.note(40)
    const last = trail.audit.head.number
    const all = Array.from({ length: last }, (_, nth) => nth + 1)

    expect(numbers(allLines(trail.directory))).toEqual(all)
    for (const most of [0, 1, 5, 17, last, last + 5]) {
      const newest = most === 0 ? [] : all.slice(-most)
      expect(numbers(newestLines(trail.directory, most))).toEqual(newest)
    }
  })

  test("shows a damaged line as it is", () => {
    using trail = new WrittenTrail()
    trail.note(1)
    appendFileSync(trail.files[0] ?? "", "damaged\n")

    expect(newestLines(trail.directory, 1)).toEqual([{ text: "damaged", entry: null }])
  })
})

describe("following a trail", () => {
  test("gives each new line once, through every file, and no unfinished one", () => {
    using trail = new WrittenTrail({ fileBytes: 2000, files: 100 })
    trail.note(3)
    const before = trail.audit.head.number
    const followed = new FollowedTrail(trail.directory)
    expect(followed.next()).toEqual([])

    const seen: Array<number | null> = []
    for (let round = 0; round < 10; round += 1) {
      trail.note(round)
      seen.push(...numbers(followed.next()))
    }
    appendFileSync(trail.files.at(-1) ?? "", '{"number":')

    const { number } = trail.audit.head
    expect(seen).toEqual(Array.from({ length: number - before }, (_, nth) => before + nth + 1))
    expect(followed.next()).toEqual([])
  })
})
