import { describe, expect, test } from "bun:test"
import { appendFileSync } from "node:fs"
import { join } from "node:path"
import {
  allLines,
  endOfTrail,
  FollowedTrail,
  linesSince,
  newestLines,
} from "../../../src/service/audit/read-audit.ts"
import { attempt, WrittenTrail } from "./written-trail.ts"

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

  test("gives the newest of a file that is much larger than they are", () => {
    using trail = new WrittenTrail()
    const method = "m".repeat(64)
    for (let nth = 0; nth < 2500; nth += 1) trail.audit.note(attempt({ method }))
    const last = trail.audit.head.number

    expect(trail.files).toHaveLength(1)
    for (const most of [1, 600, 2000]) {
      const newest = Array.from({ length: most }, (_, nth) => last - most + nth + 1)
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

describe("reading a trail since a time", () => {
  test("gives what was written then and later, wherever that is in the files", () => {
    using trail = new WrittenTrail({ fileBytes: 2000, files: 100 })
    for (let nth = 0; nth < 40; nth += 1) {
      trail.note(1)
      trail.clock.advance(1000)
    }
    const all = trail.lines.map(({ number, time }) => ({
      number: Number(number),
      atMs: Date.parse(String(time)),
    }))

    expect(trail.files.length).toBeGreaterThan(5)
    for (let second = -1; second <= 41; second += 1) {
      const sinceMs = Date.parse("2026-01-01T00:00:00Z") + second * 1000
      const wanted = all.filter(({ atMs }) => atMs >= sinceMs).map(({ number }) => number)
      expect(numbers(linesSince(trail.directory, new Date(sinceMs)))).toEqual(wanted)
    }
    expect([...linesSince(join(trail.directory, "none"), new Date())]).toEqual([])
  })

  test("does not look into files that were over before", () => {
    using trail = new WrittenTrail({ fileBytes: 2000, files: 100 })
    trail.note(20)
    trail.clock.advance(1000)
    trail.note(20)
    const [oldest = ""] = trail.files
    appendFileSync(oldest, "damaged\n")

    const since = numbers(linesSince(trail.directory, trail.clock.now()))

    const { number } = trail.audit.head
    expect(since).toEqual(
      Array.from({ length: since.length }, (_, nth) => number - since.length + nth + 1),
    )
    expect(since.length).toBeGreaterThanOrEqual(20)
  })
})

describe("following a trail", () => {
  test("gives each new line once, through every file, and no unfinished one", () => {
    using trail = new WrittenTrail({ fileBytes: 2000, files: 100 })
    trail.note(3)
    const before = trail.audit.head.number
    const followed = new FollowedTrail(trail.directory, endOfTrail(trail.directory))
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

  test("begins where it is told to, and looks at nothing before", () => {
    using trail = new WrittenTrail()
    trail.note(2)
    appendFileSync(trail.files[0] ?? "", "damaged\n")
    const end = endOfTrail(trail.directory)
    const followed = new FollowedTrail(trail.directory, end)
    trail.note(2)

    expect(numbers(allLines(trail.directory, end))).toEqual([1, 2, 3, null])
    expect(numbers(newestLines(trail.directory, 2, end))).toEqual([3, null])
    expect(numbers(followed.next())).toEqual([4, 5])
  })
})
