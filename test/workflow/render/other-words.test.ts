import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import type { AttestedTrial } from "../../../src/execution/trial/attestation.ts"
import { decodeWork } from "../../../src/workflow/documents/fault.ts"
import { readPrompt } from "../../../src/workflow/documents/prompt.ts"
import { readTaskList } from "../../../src/workflow/documents/task-list.ts"
import { readWork } from "../../../src/workflow/documents/work-kind.ts"
import { emptySummary, type LedgerSummary } from "../../../src/workflow/ledger/summary.ts"
import { adopt } from "../../../src/workflow/render/adopt.ts"
import { render } from "../../../src/workflow/render/render.ts"
import { SignedChain } from "../../support/signed-trials.ts"

/** Lines as people write them, and some that are hard to tell from ours. */
const pieces = `# Roadmap
## 📊 TASK METRICS & HISTORY
## Metrics
### Task 4: d
**Status**: Done
---
- [ ] **T1 – a**
- [x] T2: b
  - [X] T3 - c
* [ ] nested words
1. [ ] T5. e
- ✅ T6: f
  Check: \`make a\`
  Verification: \`pytest\` passes
\tGoal: more
  \`\`\`sh
\`\`\`
~~~
> quoted
- **Success**: 9
- **Success Ratio**: 9:4
| a | b |
<!--
-->
<!-- a -->
text <!-- more
  _Verified:_ ✅ trial 1
_Verified:_ accepted by Ada: seen
    <!-- cc-executor:end -->x
    indented code
  ${""}

words  ${""}
…`.split("\n")
const lineEnd = fc.constantFrom("\n", "\n", "\n", "\r\n")
/** Mostly lines from above, and some of the signs that mean something in Markdown. */
const signs = fc.string({ unit: fc.constantFrom(...Array.from(" \t-*[]x`~<!>_:|#T1.()\\")) })
const anyLine = fc.oneof(
  { arbitrary: fc.constantFrom(...pieces), weight: 4 },
  { arbitrary: signs, weight: 1 },
)
/** With lone surrogates, controls and byte order marks. */
const anyUnits = fc
  .array(fc.integer({ min: 0, max: 0xffff }))
  .map((units) => String.fromCharCode(...units))
const anyText = fc
  .tuple(
    fc.constantFrom("", "", "\uFEFF", "---\nname: T01\n---\n"),
    fc.array(fc.tuple(anyLine, lineEnd), {
      maxLength: 14,
    }),
    fc.boolean(),
  )
  .map(([first, lines, hasEnd]) => {
    const text = first + lines.map((line) => line.join("")).join("")
    return hasEnd ? text : text.replace(/\r?\n$/, "")
  })

const made = SignedChain.unsigned()
  .addAll(1, { ends: { "green-1": 1 } })
  .addAll(1)

/** A summary with a trial of the first tasks that such a text has, or of it as a prompt. */
function summaryFor(text: string): LedgerSummary {
  const work = readWork(text)
  if (!work.ok || work.value.kind !== "tasks") return made.summary
  const tasks = work.value.tasks.slice(0, 3)
  const trials = tasks.flatMap(({ id, version }, index): AttestedTrial[] => {
    const trial = made.trials[index % 2]
    if (trial === undefined) return []
    const { announcement } = trial
    const own = { ...announcement, version, work: { ...announcement.work, item: id } }
    return [{ ...trial, announcement: own }]
  })
  return { ...made.summary, trials }
}

/** What is left of a text without all that is ours. */
function ownWords(text: string): string {
  const work = readWork(text)
  if (!work.ok) throw new Error(work.failure.reason)
  const { regions } = work.value
  const tasks = work.value.kind === "tasks" ? work.value.tasks : []
  const ours = [
    ...regions.map(({ start, end }) => [start, end]),
    ...tasks.flatMap(({ verified }) => verified.map(({ start, end }) => [start, end])),
    ...tasks.flatMap(({ box }) => (box === null ? [] : [[box.start, box.end]])),
  ].toSorted(([one = 0], [other = 0]) => one - other)
  let kept = ""
  let at = 0
  for (const [start = 0, end = 0] of ours) {
    kept += text.slice(at, start)
    at = end
  }
  return kept + text.slice(at)
}

describe("other people's text", () => {
  test("comes back to the byte where there is nothing of ours", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyUnits), (text) => {
        const read = readWork(text)
        if (!read.ok || text.includes("_Verified:_")) return
        expect(render(text, emptySummary)).toEqual({ ok: true, value: text })
      }),
      { numRuns: 200 },
    )
  })

  test("is kept to the byte around what is rendered, which changes no version", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (!readWork(text).ok) return
        const summary = summaryFor(text)
        const rendered = render(text, summary)
        if (!rendered.ok) throw new Error(rendered.failure.reason)

        // A last line without an end gets one where something follows it.
        const [before, after] = [ownWords(text), ownWords(rendered.value)]
        expect(after.replace(/\r?\n$/, "")).toBe(before.replace(/\r?\n$/, ""))
        expect(versionsOf(rendered.value)).toEqual(versionsOf(text))
      }),
      { numRuns: 150 },
    )
  })

  test("is rendered once: a second time changes nothing", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (!readWork(text).ok) return
        const summary = summaryFor(text)
        const once = render(text, summary)
        expect(render(once.ok ? once.value : "", summary)).toEqual(once)
      }),
      { numRuns: 150 },
    )
  })

  test("is adopted once, and can be read afterwards", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const once = adopt(text)
        if (!once.ok) return
        expect(adopt(once.value.text)).toMatchObject({ ok: true, value: { text: once.value.text } })
      }),
      { numRuns: 150 },
    )
  })

  test("is read whatever it is, or refused with a line that it has", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyUnits), (text) => {
        for (const read of [readWork(text), readPrompt(text), readTaskList(text)]) {
          const last = text.split("\n").length
          if (!read.ok) expect(read.failure.line >= 1 && read.failure.line <= last).toBe(true)
        }
        const bytes = new TextEncoder().encode(text)
        if (text.isWellFormed()) expect(decodeWork(bytes)).toEqual({ ok: true, value: text })
      }),
      { numRuns: 150 },
    )
  })
})

function versionsOf(text: string): string[] {
  const work = readWork(text)
  if (!work.ok) return []
  if (work.value.kind === "prompt") return [work.value.version]
  return work.value.kind === "tasks" ? work.value.tasks.map(({ version }) => version) : []
}
