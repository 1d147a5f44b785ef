import { describe, expect, test } from "bun:test"
import { readJsonText } from "../../../../src/lib/json/json-text.ts"
import { memberEdits } from "../../../../src/workflow/documents/review/member-edits.ts"
import { applyEdits } from "../../../../src/workflow/render/edit.ts"

function put(text: string, value: unknown): string {
  const read = readJsonText(text)
  if (!read.ok) throw new Error(read.failure.problem)
  return applyEdits(text, memberEdits(text, read.value, "result", value))
}

describe("a member that is ours", () => {
  test.each([
    ['{"a": 1}', '{"a": 1, "result": { "b": [1, "x"] }}'],
    ['{\n\t"a": 1\n}\n', '{\n\t"a": 1,\n\t"result": { "b": [1, "x"] }\n}\n'],
    ['{\r\n  "a": 1\r\n}', '{\r\n  "a": 1,\r\n  "result": { "b": [1, "x"] }\r\n}'],
    ["{}", '{ "result": { "b": [1, "x"] } }'],
    ['{"result": 7, "z": 1}', '{"result": { "b": [1, "x"] }, "z": 1}'],
  ])("is put into %j, and nothing else changes", (before, after) => {
    expect(put(before, { b: [1, "x"] })).toBe(after)
    expect(put(after, { b: [1, "x"] })).toBe(after)
  })

  test.each([
    ['{"a": 1, "result": {}}', '{"a": 1}'],
    ['{\n  "a": 1,\n  "result": {},\n  "z": 2\n}', '{\n  "a": 1,\n  "z": 2\n}'],
    ['{"result": {}, "z": 2}', '{"z": 2}'],
    ['{ "result": {} }', "{  }"],
    ['{"a": 1}', '{"a": 1}'],
  ])("is taken out of %j", (before, after) => {
    expect(put(before, null)).toBe(after)
  })
})
