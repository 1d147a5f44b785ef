import { describe, expect, test } from "bun:test"
import { readTaskList } from "../../../src/workflow/documents/task-list.ts"
import type { LedgerSummary } from "../../../src/workflow/ledger/summary.ts"
import type { OpenTrial } from "../../../src/workflow/ledger/verify-ledger.ts"
import { accept } from "../../../src/workflow/render/accept.ts"
import { differencesFrom, differenceText } from "../../../src/workflow/render/differences.ts"
import { render } from "../../../src/workflow/render/render.ts"
import { SignedChain, type TrialOptions } from "../../support/signed-trials.ts"
import { oldTaskList } from "../first-generation.ts"

const list = `# L

- [ ] **T1 – a**
  Check: \`make a\`

- [ ] **T2 – b**
  Check: \`make b\`

- [x] **T3 – c**
`

function versionOf(text: string, id: string): string {
  const read = readTaskList(text)
  const task = read.ok ? read.value.tasks.find((one) => one.id === id) : undefined
  if (task === undefined) throw new Error(`no ${id}`)
  return task.version
}

/** Trials of tasks of a list as it is, and what is under way. */
function summaryOf(
  text: string,
  trials: readonly (TrialOptions & { item: string })[],
  open: OpenTrial[] = [],
): LedgerSummary {
  const chain = SignedChain.unsigned({ kind: "tasks", name: "L", path: "/w/L.md" })
  for (const trial of trials) chain.add({ version: versionOf(text, trial.item), ...trial })
  return { ...chain.summary, open }
}

function rendered(text: string, summary: LedgerSummary): string {
  const result = render(text, summary)
  if (!result.ok) throw new Error(result.failure.reason)
  const again = render(result.value, summary)
  expect(again).toEqual(result)
  return result.value
}

/** The lines that differ, without what stands around them. */
function below(text: string, id: string): string {
  const lines = text.split("\n")
  const head = lines.findIndex((line) => line.includes(id))
  const after = lines.slice(head + 1).findIndex((line) => line.startsWith("- "))
  const block = lines.slice(head, after < 0 ? undefined : head + 1 + after)
  return block.filter((line) => /\[|_Verified:_/.test(line)).join("\n")
}

const passed = { item: "T1", check: "make a" }

describe("a task", () => {
  test("is ticked when its check was seen to fail and then to pass", () => {
    const text = rendered(list, summaryOf(list, [passed]))
    const [head, line] = below(text, "T1").split("\n")
    expect(head).toBe("- [x] **T1 – a**")
    expect(line?.replaceAll(/ [a-z2-7]{4}…/g, " k3tq…")).toBe(
      "  _Verified:_ ✅ trial 1, red k3tq… exit 1 → green k3tq… exit 0, `make a`",
    )
    expect(below(text, "T2")).toBe("- [ ] **T2 – b**")
    expect(below(text, "T3")).toBe(
      "- [ ] **T3 – c**\n  _Verified:_ unattested: it was ticked by hand",
    )
  })

  test("is not ticked by a check that cannot fail, one that failed, or one that is broken", () => {
    const line = (ends: TrialOptions["ends"] = {}) =>
      below(rendered(list, summaryOf(list, [{ ...passed, ends }])), "T1")
    expect(line({ "red-1": 0 })).toStartWith(
      "- [ ] **T1 – a**\n  _Verified:_ ◔ trial 1 proves nothing: ",
    )
    expect(line({ "green-1": 2 })).toStartWith("- [ ] **T1 – a**\n  _Verified:_ ☐ trial 1 failed: ")
    expect(line({ "green-1": 127 })).toStartWith(
      "- [ ] **T1 – a**\n  _Verified:_ ◔ trial 1 is broken: ",
    )
  })

  test("is unticked by a later failure, but not by what proves nothing", () => {
    const after = (ends: TrialOptions["ends"] = {}) =>
      below(rendered(list, summaryOf(list, [passed, { ...passed, ends }])), "T1")
    expect(after({ "green-1": 1 })).toContain("- [ ] **T1 – a**\n  _Verified:_ ☐ trial 2 failed")
    expect(after({ "red-1": 0 })).toContain("- [x] **T1 – a**\n  _Verified:_ ✅ trial 1,")
    expect(after({ "green-1": 127 })).toContain("- [x]")
  })

  test("is unticked when its text or its check has changed, and no other is", () => {
    const both = summaryOf(list, [passed, { item: "T2", check: "make b" }])
    const ticked = rendered(list, both)

    const weaker = rendered(ticked.replace("Check: `make a`", "Check: `true`"), both)
    expect(below(weaker, "T1")).toBe(
      "- [ ] **T1 – a**\n  _Verified:_ ☐ its check has changed since trial 1, which ran `make a`",
    )
    expect(below(weaker, "T2")).toStartWith("- [x]")
    const renamed = rendered(ticked.replace("T1 – a", "T1 – aa"), both)
    expect(below(renamed, "T1")).toContain("☐ its text has changed since trial 1: run it again")
  })

  test("shows what is under way", () => {
    const summary = summaryOf(list, [], [{ sequence: 1, item: "T2" }])
    expect(below(rendered(list, summary), "T2")).toContain("_Verified:_ ◔ trial 1 is under way")
  })

  test("may be accepted by a person, which is no tick", () => {
    const accepted = accept(list, "T3", { by: "Ada: L", why: "I have\nread it" })
    const text = rendered(accepted.ok ? accepted.value : "", summaryOf(list, [passed]))
    expect(below(text, "T3")).toBe(
      "- [ ] **T3 – c**\n  _Verified:_ accepted by Ada  L: I have\\nread it",
    )
    expect(accept(list, "T9", { by: "Ada", why: "x" })).toMatchObject({ ok: false })
  })

  test("counts for nothing while the ledger is damaged", () => {
    const sound = rendered(list, summaryOf(list, [passed]))
    const damages = [{ line: 1, kind: "key" as const, reason: "it is signed by another key" }]
    const text = rendered(sound, { ...summaryOf(list, []), damages })
    expect(below(text, "T1")).toBe(
      "- [ ] **T1 – a**\n  _Verified:_ ◔ nothing counts while the ledger is damaged: " +
        "line 1: it is signed by another key",
    )
  })
})

describe("a list", () => {
  test("stays as it is to the byte where there is no trial and nothing of ours", () => {
    for (const text of [list, oldTaskList, oldTaskList.replaceAll("\n", "\r\n"), list.trimEnd()]) {
      expect(rendered(text, summaryOf(text, []))).toBe(text)
    }
  })

  test("of symbols, and of headings, is ticked in its own form", () => {
    const text = "- ☐ T1: a\n\n### Task 2: b\n**Status**: Not started\n**Timeout**: 60s\n\nMore.\n"
    const summary = summaryOf(text, [
      { item: "T1", ends: { "red-1": 0 } },
      { item: "2", check: "echo `date`" },
    ])
    const shown = rendered(text, summary)
    expect(shown).toMatch(/^- ◔ T1: a\n {2}_Verified:_ ◔ trial 1 proves nothing/)
    expect(shown).toMatch(
      /Task 2: b\n.*: ✅ Verified\n.*: 60s\n\nMore\.\n_Verified:_ ✅ .*, `` echo `date` ``\n$/,
    )
  })

  test("keeps its line ends, its first and its last byte", () => {
    const text = "\uFEFF\t- [ ] T1: a\r\n\t  b\r\n\t- [ ] T2: c"
    const shown = rendered(text, summaryOf(text, [passed, { item: "T2" }]))
    const plain = shown.replaceAll(/ ✅ [^\r\n]*`/g, " ✅")
    expect(plain).toBe(
      "\uFEFF\t- [x] T1: a\r\n\t  b\r\n\t  _Verified:_ ✅\r\n\t- [x] T2: c\r\n\t  _Verified:_ ✅",
    )
  })

  test("is not misled by what it shows as code or in comments", () => {
    const shows = [
      "- [ ] T1: a",
      "  ```md",
      "  - [ ] T2: b",
      "    _Verified:_ ✅ trial 9",
      "  <!-- cc-executor:begin tasks -->",
      "  ```",
      "<!--",
      "_Verified:_ ✅ trial 8",
      "-->",
      "",
    ].join("\n")
    const shown = rendered(shows, summaryOf(shows, [passed]))
    const kept = shown.split("\n").filter((line) => !/_Verified:_ ✅ trial 1,/.test(line))
    expect(kept.join("\n")).toBe(shows.replace("[ ]", "[x]"))
    expect(kept.length).toBe(shown.split("\n").length - 1)
  })

  test("keeps the line of each task below it, whatever stands around", () => {
    const doubled = "- [ ] T1: a\n\n  _Verified:_ x\n_Verified:_ accepted by Ada: seen\n"
    expect(rendered(doubled, summaryOf(doubled, [passed]))).toMatch(
      /^- \[x\] T1: a\n\n {2}_Verified:_ ✅ [^\n]*\n_Verified:_ accepted by Ada: seen\n$/,
    )
    const nested = "1. [ ] T1. a\n  - [ ] T2 - b\n  _Verified:_ x\n"
    const shown = rendered(nested, summaryOf(nested, [passed]))
    expect(shown).toMatch(/^1\. \[x\] T1\. a\n {2}- \[ \] T2 - b\n {2}_Verified:_ ✅/)
  })

  test("puts no line into code that was never closed", () => {
    const text = "- [ ] T1: a\n  b\n  ```\n  c\n"
    expect(rendered(text, summaryOf(text, [passed]))).toMatch(/a\n {2}b\n {2}_Verified:_ ✅/)
  })

  test("shows what it comes to in a region of its own", () => {
    const text = `<!-- cc-executor:begin tasks -->\nold\n<!-- cc-executor:end -->\n${list}`
    expect(rendered(text, summaryOf(list, [passed]))).toContain(
      "begin tasks -->\n**1 of 3 verified**, 1 claimed, unattested\n<!-- cc",
    )
  })
})

describe("what was changed by hand", () => {
  const summary = summaryOf(list, [passed])
  const shown = rendered(list, summary)
  const found = (text: string) => {
    const differences = differencesFrom(text, summary)
    return differences.ok ? differences.value.map(differenceText) : [differences.failure.reason]
  }

  test("is found with its line, what stands there, and what should", () => {
    expect(found(shown)).toEqual([])
    expect(found(shown.replace("- [ ] **T2", "- [x] **T2"))).toEqual([
      'line 7: it says "- [x] **T2 – b**", but the ledger shows "- [ ] **T2 – b**"',
      "line 9: what the ledger shows is missing: _Verified:_ unattested: it was ticked by hand",
    ])
    const lied = shown.replace("exit 1 → green", "exit 9 → green")
    expect(found(lied)[0]).toMatch(
      /^line 5: it says "_Verified:_ ✅ .*exit 9.*but the ledger shows/,
    )
    const invented = shown.replace("`make b`\n", "`make b`\n  _Verified:_ ✅ trial 1, red a\n")
    expect(found(invented)).toEqual(["line 9: nothing shows this: _Verified:_ ✅ trial 1, red a"])
  })

  test("is undone by rendering, and other words are kept", () => {
    const edited = shown.replace("- [ ] **T2", "- [x] **T2").replace("# L\n", "# L\n\nMy words.\n")
    const again = rendered(edited, summary)
    expect(again).toContain("# L\n\nMy words.\n")
    expect(below(again, "T2")).toStartWith("- [ ]")
  })
})
