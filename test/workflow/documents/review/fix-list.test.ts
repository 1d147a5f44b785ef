import { describe, expect, test } from "bun:test"
import { faultText } from "../../../../src/workflow/documents/fault.ts"
import { type Fix, readFixList } from "../../../../src/workflow/documents/review/fix-list.ts"
import { newFixListFaults } from "../../../../src/workflow/documents/review/new-fix-list.ts"
import { readWork } from "../../../../src/workflow/documents/work-kind.ts"

function fixesIn(...fixes: object[]): readonly Fix[] {
  const read = readFixList(JSON.stringify({ fixes }))
  if (!read.ok) throw new Error(faultText(read.failure))
  return read.value.fixes
}

const plain = { id: 1, severity: "major", issue: "it fails" }

describe("a list of fixes", () => {
  test("is a work, also behind a byte order mark", () => {
    expect(readWork('\uFEFF\n{"fixes": []}')).toMatchObject({ ok: true, value: { kind: "fixes" } })
  })

  test.each([
    ["BLOCKER", "critical"],
    ["Critical", "critical"],
    ["MAJOR", "major"],
    ["MINOR", "minor"],
    ["NIT", "minor"],
  ] as const)("of the first generation says %s for %s", (severity, meant) => {
    expect(fixesIn({ ...plain, severity })[0]?.severity).toBe(meant)
  })

  test("of the first generation says test for verification, and adds what it likes", () => {
    const [fix] = fixesIn({ ...plain, test: "make test", category: "x", line: "4-5", file: null })

    expect(fix).toMatchObject({
      verification: "make test",
      check: { run: "make test", by: null },
      place: "4-5",
      file: null,
    })
  })

  test("has a version for each fix, of all that it says but its result", () => {
    const versionOf = (more: object) =>
      fixesIn({ ...plain, verification: "true", ...more })[0]?.version
    const same = versionOf({})

    expect(versionOf({ result: { status: "FIXED" }, category: "other" })).toBe(same)
    expect(versionOf({ check: { run: "true", by: "a" } })).not.toBe(same)
    expect(versionOf({ issue: "other" })).not.toBe(same)
    expect(versionOf({ verification: "false" })).not.toBe(same)
  })

  test.each([
    ['{"fixes": 1}', "line 1, column 11: fixes: must be a list of fixes"],
    ["[]", "line 1, column 1: must be an object with `fixes`"],
    [
      '{"fixes": [{"id": 1, "severity": "x", "issue": "y"}]}',
      "fixes → 0 → severity: must be critical",
    ],
    ['{"fixes": [{"severity": "nit", "issue": "y"}]}', "fixes → 0 → id: must be a number"],
    ['{"fixes": [{"id": 1, "severity": "nit", "issue": " "}]}', "issue: must not be empty"],
    [
      '{"fixes": [{"id": 1, "severity": "nit", "issue": "\\u0000"}]}',
      "issue: must be text without",
    ],
    [
      '{"fixes": [{"id": 1, "severity": "nit", "issue": "\\ud800"}]}',
      "issue: must be text without",
    ],
  ])("is refused where it is none: %s", (text, said) => {
    const read = readFixList(text)

    expect(read.ok ? "" : faultText(read.failure)).toContain(said)
  })
})

describe("a new list", () => {
  const name = { seq: "017", component: "log" }
  const fix = { ...plain, file: "a", line: 1, fix: "do", verification: "make test" }
  const list = { review_id: "017_log", component: "log", date: "2026-11-19", fixes: [fix] }

  test("is in order with all of it, and with more", () => {
    expect(newFixListFaults(JSON.stringify({ ...list, note: "x" }), name)).toEqual([])
    expect(newFixListFaults(JSON.stringify({ ...list, fixes: [] }), name)).toEqual([])
  })

  test.each([
    ["another number", { review_id: "018_log" }, 'review_id: must be "017_log"'],
    ["another component", { component: "x" }, 'component: must be "log"'],
    ["no date", { date: "today" }, "date: must be a date"],
    ["no verification", { fixes: [{ ...fix, verification: "" }] }, "fixes → 0 → verification"],
    ["a result", { fixes: [{ ...fix, result: {} }] }, "result: is not the reviewer's to say"],
    ["an author", { fixes: [{ ...fix, check: { run: "x", by: "me" } }] }, "check: is for others"],
    ["a place outside", { fixes: [{ ...fix, file: "a/../../b" }] }, "file: must be a path inside"],
  ])("is not with %s, and the place is told", (_, wrong, said) => {
    const faults = newFixListFaults(JSON.stringify({ ...list, ...wrong }, null, 2), name)

    expect(faults).toEqual([
      {
        line: expect.any(Number),
        column: expect.any(Number),
        problem: expect.stringContaining(said),
      },
    ])
    expect(faults[0]?.line).toBeGreaterThan(1)
  })
})
