import { describe, expect, test } from "bun:test"
import { readTaskList, type TaskList } from "../../../src/workflow/documents/task-list.ts"
import { oldTaskList } from "../first-generation.ts"

function read(text: string): TaskList {
  const list = readTaskList(text)
  if (!list.ok) throw new Error(`line ${list.failure.line}: ${list.failure.reason}`)
  return list.value
}

function taskIn(text: string, id: string) {
  const task = read(text).tasks.find((one) => one.id === id)
  if (task === undefined) throw new Error(`no ${id}`)
  return task
}

const versionsIn = (text: string) => read(text).tasks.map(({ version }) => version)

describe("a task list of the first generation", () => {
  test("has its tasks, with their boxes as claims", () => {
    const { tasks, title } = read(oldTaskList)

    expect(title).toBe("🗒️ 000_tasks_list")
    expect(tasks.map(({ id }) => id).join(" ")).toBe("T00 T01 T02 T03 T04 T05 T06 T07")
    expect(tasks[1]).toMatchObject({ title: "Robust Logging", line: 16, parent: null })
    const claimed = tasks.filter(({ isClaimed }) => isClaimed)
    expect(claimed.map(({ id }) => id).join(" ")).toBe("T00 T01 T02 T03 T05")
  })

  test("has no check: what stands in its prose is never executed", () => {
    for (const { checks, unclear } of read(oldTaskList).tasks) {
      expect({ checks, unclear }).toEqual({ checks: [], unclear: [] })
    }
    expect(taskIn(oldTaskList, "T02").verification).toEqual({
      line: 25,
      text: "Stress test piping `yes | pv -qL 50000` for 60 s.",
    })
  })

  test("gives the agent a task's own words", () => {
    const { text } = taskIn(oldTaskList, "T04")
    expect(text).toStartWith("- [ ] **T04 – CI Integration**  \n  Verification: CI badge")
    expect(text.trimEnd()).toEndWith("after merge.")
  })
})

describe("a check", () => {
  const checksOf = (line: string) => taskIn(`- [ ] T1: a\n  ${line}\n`, "T1")

  test.each([
    ["Check: `npm test`", "npm test"],
    ["**Check**: `npm test`", "npm test"],
    ["_Check:_ `npm test`.", "npm test"],
    ["- Verification Command: `a | b`", "a | b"],
    ["**Verification Command:** `a`  ", "a"],
    ["Check: `` echo `date` ``", "echo `date`"],
  ])("is %s", (line, run) => {
    expect(checksOf(line).checks).toEqual([{ run, red: "base", spoil: null, line: 2 }])
  })

  test("says where it must fail", () => {
    expect(checksOf("Check: `a` (red: empty)").checks[0]).toMatchObject({ red: "empty" })
    expect(checksOf("Check: `a` (red: spoil: `rm b`)").checks[0]).toMatchObject({
      red: "spoil",
      spoil: "rm b",
    })
  })

  test.each(["Check: npm test", "Check: `pgrep x` finds nothing", "Check: `a` (red: never)"])(
    "is not %s: it is shown as unclear",
    (line) => {
      const { checks, unclear } = checksOf(line)
      expect(checks).toEqual([])
      expect(unclear).toEqual([{ line: 2, text: line }])
    },
  )

  test("is neither in code nor in a comment nor without a label", () => {
    const text = "- [ ] T1: a\n  ```\n  Check: `a`\n  ```\n  <!--\n  Check: `b`\n  -->\n  Run `c`\n"
    expect(taskIn(text, "T1")).toMatchObject({ checks: [], unclear: [] })
  })
})

describe("the forms of a list", () => {
  test("are brackets, symbols, and headings with a status", () => {
    const text = [
      "* [X] T-1: a",
      "1. [ ] **Write docs**",
      "- ◔ T3 - c",
      "- ✅ **T4** – d",
      "### Task 5: e",
      "**Status**: Completed",
      "**Timeout**: 60s",
      "### ☐ Task 6: f",
      "### Task 7: g",
      "**Status:** not started",
    ].join("\n")
    const found = read(text).tasks.map(({ id, title, box }) => [id, title, box?.form, box?.mark])
    expect(found).toEqual([
      ["T-1", "a", "brackets", "done"],
      ["write-docs", "Write docs", "brackets", "open"],
      ["T3", "c", "symbol", "under-way"],
      ["T4", "d", "symbol", "done"],
      ["5", "e", "status", "done"],
      ["6", "f", "symbol", "open"],
      ["7", "g", "status", "open"],
    ])
  })

  test("give an id that cannot be a word of the title, or else what the title says", () => {
    const heads = [
      "T01 - a",
      "T01 a",
      "1.2 a",
      "**T01** – a",
      "Task 3: a",
      "utf8 a",
      "3 a",
      "a-b 1",
    ]
    const ids = heads.map((head) => read(`- [ ] ${head}\n`).tasks[0]?.id ?? "")
    expect(ids.join(" ")).toBe("T01 T01 1.2 T01 3 utf8-a 3-a a-b-1")
  })

  test("say where the mark stands", () => {
    const text = "\uFEFF# L\r\n\t- [x] T1: a\r\n- ✅ T2: b\r\n### Task 3: c\r\n**Status**: Done\r\n"
    const marks = read(text).tasks.map(({ box }) => text.slice(box?.start, box?.end))
    expect(marks).toEqual(["x", "✅", "Done"])
  })

  test("may nest: what is nested is not the text of what it is in", () => {
    const text = "- [ ] T1: a\n  - [ ] T1.1: b\n    Check: `b`\n  Check: `a`\n- [ ] T2: c\n"
    const { tasks } = read(text)
    expect(tasks.map(({ id, parent }) => [id, parent])).toEqual([
      ["T1", null],
      ["T1.1", "T1"],
      ["T2", null],
    ])
    expect(tasks.map(({ checks }) => checks.map(({ run }) => run))).toEqual([["a"], ["b"], []])
  })

  test("end where something else begins", () => {
    const check = "Check: `a`"
    const isOutside = (text: string) => taskIn(text, "T1").checks.length === 0
    expect(isOutside(`- [ ] T1: a\n\n${check}\n`)).toBe(true)
    expect(isOutside(`- [ ] T1: a\n- ${check}\n`)).toBe(true)
    expect(isOutside(`- [ ] T1: a\n---\n  ${check}\n`)).toBe(true)
    expect(isOutside(`- [ ] T1: a\n# b\n  ${check}\n`)).toBe(true)
    expect(isOutside(`- [ ] T1: a\n\n  ${check}\n`)).toBe(false)
    expect(isOutside(`- [ ] T1: a\n${check}\n`)).toBe(false)
  })

  test("need an id only once", () => {
    const list = readTaskList("- [ ] T1: a\n\n- [ ] T1: b\n")
    expect(list).toMatchObject({ ok: false, failure: { line: 3 } })
    expect(list.ok ? "" : list.failure.reason).toContain("the task T1 stands in line 1 already")
    expect(read("- [ ] Tests\n- [ ] Tests\n").tasks.map(({ id }) => id)).toEqual([
      "tests",
      "tests-2",
    ])
  })
})

describe("the version of a task", () => {
  const list = (goal: string, check: string, mark = " ", more = "") =>
    `# L\n\n- [${mark}] T1: a\n  ${goal}\n  Check: \`${check}\`\n${more}\n- [ ] T2: b\n  Other.\n`
  const [first = "", second = ""] = versionsIn(list("Goal.", "npm test"))

  test("changes with its text and with its check, and with nothing of another one", () => {
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    expect(versionsIn(list("Goals.", "npm test"))).toEqual([
      expect.not.stringMatching(first),
      second,
    ])
    expect(versionsIn(list("Goal.", "true"))).toEqual([expect.not.stringMatching(first), second])
  })

  test("stays the same with what we write, and what editors do", () => {
    const rendered = list("Goal.", "npm test", "x", "  _Verified:_ ✅ trial 7, `npm test`\n")
    expect(versionsIn(rendered)).toEqual([first, second])
    expect(versionsIn(list("Goal.  ", "npm test").replaceAll("\n", "\r\n"))).toEqual([
      first,
      second,
    ])
    expect(versionsIn(`intro\n\n${list("Goal.", "npm test")}\n## End\n`)).toEqual([first, second])
  })
})

describe("the line below a task", () => {
  test("is ours, and so is a second one", () => {
    const task = taskIn("- [ ] T1: a\n  _Verified:_ x\n  b\n  _Verified:_ ◔ y  \n", "T1")
    expect(task.verified.map(({ line, says }) => [line, says])).toEqual([
      [2, "x"],
      [4, "◔ y"],
    ])
  })

  test("says who has accepted it, or that its tick was only claimed", () => {
    const saying = (words: string) => taskIn(`- [ ] T1: a\n  _Verified:_ ${words}\n`, "T1")
    expect(saying("accepted by Ada: seen it: twice").accepted).toEqual({
      by: "Ada",
      why: "seen it: twice",
    })
    expect(saying("unattested: it was ticked by hand").isClaimed).toBe(true)
    expect(saying("✅ trial 1")).toMatchObject({ isClaimed: false, accepted: null })
  })
})
