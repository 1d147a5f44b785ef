import { describe, expect, test } from "bun:test"
import type { WorkCheck } from "../../../src/workflow/documents/front-matter.ts"
import { readPrompt } from "../../../src/workflow/documents/prompt.ts"
import { addRecovery } from "../../../src/workflow/improve/add-recovery.ts"

const failed: WorkCheck = {
  run: 'grep -q "a: b" out  # trial 3: it\'s so',
  red: "base",
  spoil: null,
}

function added(front: string, check: WorkCheck = failed): string {
  const text = `---\n${front}---\n# P\n\nrecovery: none\n`
  const written = addRecovery(text, check)
  if (!written.ok) throw new Error(written.failure)
  return written.value
}

function recoveryIn(text: string): WorkCheck[] {
  const read = readPrompt(text)
  if (!read.ok) throw new Error(read.failure.reason)
  return read.value.settings.recovery
}

const item = `- {run: ${JSON.stringify(failed.run)}, red: base}`

describe("a recovery test is added to front matter", () => {
  test.each([
    ["that has none", "checks: [a]\n", `checks: [a]\nrecovery:\n  ${item}\n`],
    [
      "that has a list",
      "recovery:\n  - a   # why\n  - {run: b, red: empty}\nname: p\n",
      `recovery:\n  - a   # why\n  - {run: b, red: empty}\n  ${item}\nname: p\n`,
    ],
    [
      "whose list is not indented",
      "recovery:\n- a\nname: p\n",
      `recovery:\n- a\n${item}\nname: p\n`,
    ],
    [
      "whose items have several lines",
      "recovery:\n    - run: a\n      red: empty\n\n# end\nname: p\n",
      `recovery:\n    - run: a\n      red: empty\n    ${item}\n\n# end\nname: p\n`,
    ],
  ])("%s, as one more line", (_, before, after) => {
    expect(added(before)).toBe(`---\n${after}---\n# P\n\nrecovery: none\n`)
  })

  test.each([
    ["a list in brackets", "recovery: [a, {run: b, red: empty}]\nname: p\n", 3],
    ["a list in brackets over lines", "recovery: [\n  a,\n  b,\n]\nname: p\n", 3],
    ["one command", "recovery: a\nname: p\n", 2],
    ["one check", "recovery: {run: a, red: 'spoil: rm x'}\nname: p\n", 2],
    ["an empty list", "recovery: []\nname: p\n", 1],
    ["a text of several lines", "recovery: |\n  a\n  b\nname: p\n", 2],
  ])("in the place of %s", (_, before, count) => {
    const earlier = recoveryIn(`---\n${before}---\n`)

    const text = added(before)

    expect(recoveryIn(text)).toEqual([...earlier, failed])
    expect(recoveryIn(text)).toHaveLength(count)
    expect(text).toContain("\nname: p\n---\n# P\n\nrecovery: none\n")
  })

  test("wherever it must fail, and whatever is in it", () => {
    const checks: WorkCheck[] = [
      { run: "a\nb 'c' \"d\" \\ é \u0007", red: "empty", spoil: null },
      { run: "a", red: "spoil", spoil: 'rm "x": y' },
    ]
    const text = checks.reduce((before, check) => {
      const written = addRecovery(before, check)
      return written.ok ? written.value : ""
    }, "---\r\nname: p\r\n---\r\n# P\r\n")

    expect(recoveryIn(text)).toEqual(checks)
    expect(text.replaceAll("\r\n", "")).not.toContain("\n")
  })
})
