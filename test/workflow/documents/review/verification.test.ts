import { describe, expect, test } from "bun:test"
import { commandIn } from "../../../../src/workflow/documents/review/verification.ts"

describe("a verification is a command", () => {
  test.each([
    "pytest -q tests/test_a.py",
    "sh tests/add.sh",
    "./check.sh",
    "tests/run.sh one",
    "grep -q 'the logs must be JSON' README.md",
    "! grep -rn print src",
    "test -f a && test -s b",
    "A=1 python -m unittest",
    "curl -s localhost:8003/healthz | jq -e .ok",
    '[ "$(wc -l < a)" -gt 3 ]',
    "npm test",
    "frobnicate --check",
  ])("where it reads as one: %s", (text) => {
    expect(commandIn(text)).toBe(text)
  })

  test("where it is a code span and nothing else", () => {
    expect(commandIn("`make the tea`")).toBe("make the tea")
    expect(commandIn("  ``echo `date` ``  ")).toBeNull()
  })
})

describe("a verification is prose, and never run", () => {
  test.each([
    "",
    "` `",
    "How to test the fix",
    "Run pytest tests/test_a.py",
    "`pytest tests/test_a.py` passes",
    "pytest tests/test_a.py should pass",
    "make sure that the log is JSON",
    "test that logs appear",
    "find the leak",
    "check it",
    "rm everything",
    "It should be fast",
    "pytest passes.",
    "watch the memory; it must not grow",
    "Verify: ls",
    "reviewer approval",
  ])("where it is not clearly a command: %s", (text) => {
    expect(commandIn(text)).toBeNull()
  })
})
