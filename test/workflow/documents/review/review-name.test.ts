import { expect, test } from "bun:test"
import {
  componentName,
  nextSeq,
  readReviewName,
  reviewFileName,
} from "../../../../src/workflow/documents/review/review-name.ts"

test.each([
  ["001_T01_robust_logging_review_request.md", "001", "T01_robust_logging", "review_request"],
  ["0017_websocket_fixes.json", "0017", "websocket", "fixes"],
  ["014b_websocket_review_feedback.md", "014b", "websocket", "review_feedback"],
  ["003_fixes_fixes.json", "003", "fixes", "fixes"],
] as const)("%s is a file of a round, and is called so again", (file, seq, component, kind) => {
  const read = readReviewName(file)

  expect(read).toEqual({ seq, component, kind })
  expect(reviewFileName({ seq, component }, kind)).toBe(file)
})

test.each([
  "17_a_fixes.json",
  "017_fixes.json",
  "017_a_fixes.md",
  "017_a_review_request.json",
  "a",
])("%s is none", (file) => {
  expect(readReviewName(file)).toBeNull()
})

test("rounds are numbered in one row, whatever they are about", () => {
  const name = (seq: string) => ({ seq, component: "a" })

  expect(nextSeq([])).toBe("001")
  expect(nextSeq([name("0017"), name("014b"), name("003")])).toBe("018")
  expect(nextSeq([name("999")])).toBe("1000")
})

test.each([
  ["T01_robust_logging", true],
  ["Überblick", true],
  ["../x", false],
  ["a/b", false],
  ["-rf", false],
  ["", false],
])("the component %s can be part of a name: %p", (given, can) => {
  expect(componentName(given) !== null).toBe(can)
})
