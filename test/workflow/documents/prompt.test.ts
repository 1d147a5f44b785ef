import { describe, expect, test } from "bun:test"
import {
  type Prompt,
  readPrompt,
  versionWithoutCode,
} from "../../../src/workflow/documents/prompt.ts"
import { nameOfWork, readWork } from "../../../src/workflow/documents/work-kind.ts"
import { oldPromptFormA, oldPromptFormB, oldTaskList } from "../first-generation.ts"

function read(text: string): Prompt {
  const prompt = readPrompt(text)
  if (!prompt.ok) throw new Error(`line ${prompt.failure.line}: ${prompt.failure.reason}`)
  return prompt.value
}

const front = `---
name: T01_robust_logging
description: Logs as JSON.
allowed-tools: Read, Bash
agent: claude # or a command
checks: [{run: pytest -q tests/test_healthz.py, red: base}]
guards: [npm run lint]
setup: npm ci
needs: http://localhost:8003/health
protect: [tests/]
recovery:
  - run: python t01.py --no-disk
    red: "spoil: touch full"
  - {run: python t01.py --no-net, red: {spoil: ip link del eth9}}
  - python t01.py --twice
graduation: {ratio: 10, of: version}
---
# Work

Do it.
`

describe("a prompt", () => {
  test("binds what its front matter says", () => {
    const { settings, isBound, body } = read(front)

    expect(isBound).toBe(true)
    expect(settings).toMatchObject({
      name: "T01_robust_logging",
      agent: "claude",
      checks: [{ run: "pytest -q tests/test_healthz.py", red: "base", spoil: null }],
      guards: ["npm run lint"],
      setup: ["npm ci"],
      needs: ["http://localhost:8003/health"],
      protect: ["tests/"],
      graduation: { ratio: 10, of: "version" },
    })
    expect(settings.recovery).toEqual([
      { run: "python t01.py --no-disk", red: "spoil", spoil: "touch full" },
      { run: "python t01.py --no-net", red: "spoil", spoil: "ip link del eth9" },
      { run: "python t01.py --twice", red: "base", spoil: null },
    ])
    expect(body).toBe("# Work\n\nDo it.\n")
  })

  test("keeps what only others read, such as the keys of Claude Code's skills", () => {
    expect([...read(front).settings.others]).toEqual([
      ["description", "Logs as JSON."],
      ["allowed-tools", "Read, Bash"],
    ])
    const others = "---\nname: a\ntools: [x]\nwhen_to_use: now\nmodel: opus\n---\n"
    expect([...read(others).settings.others.keys()]).toEqual(["tools", "when_to_use", "model"])
  })

  test("has defaults, also without front matter", () => {
    for (const text of ["# Work\n", "---\n# nothing\n---\n# Work\n", ""]) {
      expect(read(text).settings).toMatchObject({
        name: null,
        agent: "claude",
        checks: [],
        protect: null,
        graduation: { ratio: 10, of: "life" },
      })
    }
    expect(nameOfWork(read("# Work\n"), "/w/prompts/T07.md")).toBe("T07")
    expect(nameOfWork(read(front), "/w/prompts/T07.md")).toBe("T01_robust_logging")
  })

  test.each([
    ["checks:\n  - run: a\n    red: spoil: rm b\n", 4, 'in quotes, `"spoil: COMMAND"`'],
    ["checks: [{run: a, red: never}]\n", 2, "checks"],
    ["name: a\nchecks:\n  - run: a\n    rde: base\n", 5, "rde"],
    ["name: a\nname: b\n", 3, "name is listed twice"],
    ["name: a\nchekcs: [b]\n", 3, "chekcs is not known: did you mean checks?"],
    ["name: a\nprotct: [b]\n", 3, "did you mean protect?"],
    ["name: a\nneeds: [not an address]\n", 3, "needs"],
    ["name: [a\n", 2, "entry"],
    ["graduation: {ratio: 0}\n", 2, "graduation"],
  ])("with %j is refused, and the line is named", (entries, line, reason) => {
    const prompt = readPrompt(`---\n${entries}---\n`)
    expect(prompt).toMatchObject({ ok: false, failure: { line } })
    expect(prompt.ok ? "" : prompt.failure.reason).toContain(reason)
  })

  test("of form A is read: ratio, code block", () => {
    const { dialect, claimed, code, recoveryTests } = read(oldPromptFormA)
    expect(dialect).toBe("form-a")
    expect(claimed).toMatchObject({ success: 7, failure: 2, lines: [4, 5] })
    expect(code?.text).toBe('print("hello")\n')
    expect(recoveryTests).toEqual([])
  })

  test("of form B is read: counts, recovery tests", () => {
    const { dialect, claimed, code, recoveryTests } = read(oldPromptFormB)
    expect(dialect).toBe("form-b")
    expect(claimed).toMatchObject({ success: 9, failure: 4, lines: [4, 5, 6, 7, 8] })
    expect(code).toBeNull()
    expect(recoveryTests.map(({ title }) => title)).toEqual([
      "Test 1: Broken pipe",
      "Test 2: Full disk",
    ])
    expect(
      read(oldPromptFormB.replace("9:4 (need 10:1 to graduate)", "N/A")).claimed,
    ).toMatchObject({
      success: 9,
      failure: 4,
    })
  })
})

describe("the version of a prompt", () => {
  const region = "<!-- cc-executor:begin metrics -->\n- **Success**: 3\n<!-- cc-executor:end -->\n"
  const { version } = read(front)

  test("changes with its text and its checks, but not with what we write", () => {
    expect(read(front.replace("Do it.", "Do that.")).version).not.toBe(version)
    expect(read(front.replace("pytest -q", "pytest")).version).not.toBe(version)
    expect(read(front.replace("# Work\n", `# Work\n${region}`)).version).toBe(version)
    expect(read(front + region).version).toBe(version)
  })

  test("stays the same with what editors do", () => {
    const edited = `\uFEFF${front.replace("Do it.", "Do it. \t").replaceAll("\n", "\r\n")}\r\n\r\n`
    expect(read(edited).version).toBe(version)
    expect(read(edited).settings.name).toBe("T01_robust_logging")
  })

  test("without the code block is that of all else", () => {
    const kept = versionWithoutCode(read(oldPromptFormA))
    const coded = oldPromptFormA.replace('print("hello")', "x = 1\nprint(x)")
    const briefed = oldPromptFormA.replace("Log as JSON.", "Log as text.")
    expect(versionWithoutCode(read(coded))).toBe(kept)
    expect(versionWithoutCode(read(briefed))).not.toBe(kept)
  })
})

describe("what is ours in a file", () => {
  const begin = "<!-- cc-executor:begin metrics claimed=9:4 -->"
  const end = "<!-- cc-executor:end -->"

  test("is a region between two markers", () => {
    const text = `# a\n${begin}\nb\n${end}\nc`
    const [region] = read(text).regions
    expect(text.slice(region?.start, region?.end)).toBe(`${begin}\nb\n${end}\n`)
    expect(region?.name).toBe("metrics")
    expect(region?.attributes.get("claimed")).toBe("9:4")
  })

  test.each([
    ["code", `\`\`\`html\n${begin}\n\`\`\`\n`],
    ["quoted code", `> ~~~\n> ${begin}\n`],
    ["code in a list", `- a:\n\n  \`\`\`\n  ${begin}\n  \`\`\`\n`],
    ["longer fences", `\`\`\`\`\n\`\`\`\n${begin}\n\`\`\`\`\n`],
    ["a comment", `<!-- for example\n${begin}\n`],
    ["a line with more", `see ${begin}\n`],
  ])("is nothing in %s", (_, text) => {
    expect(read(text).regions).toEqual([])
  })

  test.each([
    [`a\n${begin}\nb\n`, 2, "has no `<!-- cc-executor:end -->`"],
    [`${begin}\n${begin}\n${end}\n`, 1, "has no `<!-- cc-executor:end -->`"],
    [`a\nb\n${end}\n`, 3, "nothing of ours begins before"],
  ])("is refused where markers do not match (%#)", (text, line, reason) => {
    const prompt = readPrompt(text)
    expect(prompt).toMatchObject({ ok: false, failure: { line } })
    expect(prompt.ok ? "" : prompt.failure.reason).toContain(reason)
  })
})

test("what a file is follows from what is in it", () => {
  const kindOf = (text: string) => {
    const work = readWork(text)
    return work.ok ? work.value.kind : work.failure
  }
  expect([oldTaskList, "# L\n- [ ] T1: a\n"].map(kindOf)).toEqual(["tasks", "tasks"])
  expect([oldPromptFormA, oldPromptFormB, front, "# Hello\n", ""].map(kindOf)).toEqual(
    Array.from({ length: 5 }, () => "prompt"),
  )
  expect(kindOf(`${front}- [ ] T1: a\n`)).toBe("prompt")
  expect(kindOf("- [ ] T1: a\n- [ ] T1: b\n")).toMatchObject({ line: 2 })
})
