import { describe, expect, test } from "bun:test"
import { readPrompt } from "../../../src/workflow/documents/prompt.ts"
import { emptySummary, type LedgerSummary } from "../../../src/workflow/ledger/summary.ts"
import { adopt } from "../../../src/workflow/render/adopt.ts"
import { differencesFrom, differenceText } from "../../../src/workflow/render/differences.ts"
import { intervalText } from "../../../src/workflow/render/metrics-text.ts"
import { render } from "../../../src/workflow/render/render.ts"
import { SignedChain, type TrialOptions } from "../../support/signed-trials.ts"
import { oldPromptFormA, oldPromptFormB, oldTaskList } from "../first-generation.ts"

const front = "---\nname: T01\nchecks: [{run: make test, red: base}]\nrecovery: [a, b, c]\n---\n"

function summaryOf(trials: readonly TrialOptions[]): LedgerSummary {
  const chain = SignedChain.unsigned()
  for (const trial of trials) chain.add(trial)
  return chain.summary
}

function rendered(text: string, summary: LedgerSummary): string {
  const result = render(text, summary)
  if (!result.ok) throw new Error(result.failure.reason)
  expect(render(result.value, summary)).toEqual(result)
  return result.value
}

function adopted(text: string) {
  const adoption = adopt(text)
  if (!adoption.ok) throw new Error(adoption.failure.reason)
  expect(adopt(adoption.value.text)).toMatchObject({
    ok: true,
    value: { text: adoption.value.text },
  })
  return adoption.value
}

const failed: TrialOptions = { ends: { "green-1": 1 } }
const recovery = ["a", "b", "c"]
const passed: TrialOptions = { recovery, session: { cost_usd: 0.5 } }
const mixed = summaryOf([
  failed,
  { ends: { "red-1": 0 } },
  { ends: { "green-1": 127 } },
  { lost: "the service ended", ends: { "green-1": "not-run" } },
  { ...passed, version: "b".repeat(64), at: "2026-11-20T01:00:00.000Z" },
  { ...passed, version: "b".repeat(64), at: "2026-11-21T23:59:59.000Z" },
])

describe("the metrics of a prompt", () => {
  test("are rendered in our words, with the checks", () => {
    expect(rendered(`${front}# Do\n\n## Metrics\n\nMore.\n`, mixed)).toBe(`${front}# Do

## Metrics
<!-- cc-executor:begin metrics -->
- **Success**: 2
- **Failure**: 2
- **Ratio**: 2:2 (needs 10:1 to graduate; 95 % interval of success 15–85 %)
- **Last Updated**: 2026-11-21
- **Lost**: 1, counted as failures
- **Not counted**: 1 warned, 1 broken
- **Cost per Success**: $0.5000
- **Checks**: \`make test\` must fail at base
- **Recovery Tests**: 3 of 3 green
- **Evolution History**:

  | Version | Change & Reason | Result |
  | --- | --- | --- |
  | v1 | text 3bfc2695, trials 1–4, 2026-11-19 | 0:2 |
  | v2 | text bbbbbbbb, trials 5–6, 2026-11-21 | 2:0 |
<!-- cc-executor:end -->

More.
`)
  })

  test("are rendered in the words of form A", () => {
    const text = rendered(oldPromptFormA, mixed)
    expect(text).toContain(
      "## 📊 TASK METRICS & HISTORY\n<!-- cc-executor:begin metrics -->\n" +
        "- **Success/Failure Ratio**: 2:2 (Requires 10:1 to graduate; 95 % interval",
    )
    expect(text).toContain("- **Last Updated**: 2026-11-21\n")
    expect(text).toContain("  | Version | Change & Reason | Result |\n")
  })

  test("are rendered in the words of form B", () => {
    const text = rendered(oldPromptFormB, mixed)
    expect(text).toContain(
      "- **Success**: 2\n- **Failure**: 2\n- **Total Executions**: 4\n" +
        "- **Last Updated**: 2026-11-21\n- **Success Ratio**: 2:2 (need 10:1 to graduate; 95 %",
    )
    expect(text).toContain("\n  - v2: text bbbbbbbb, trials 5–6: 2:0\n")
  })

  test("are put at the end, with its line ends, where there is no heading for them", () => {
    const text = rendered("Do it.\r\n\r\nNow.", mixed)
    expect(text).toStartWith(
      "Do it.\r\n\r\nNow.\r\n<!-- cc-executor:begin metrics -->\r\n- **Success**: 2\r\n",
    )
    expect(text).toEndWith("\r\n<!-- cc-executor:end -->")
    expect(text.replaceAll("\r\n", "")).not.toContain("\n")
  })

  test("are not put into code that was never closed", () => {
    expect(rendered("\uFEFF# Do\n```\nx\n", mixed)).toStartWith(
      "\uFEFF<!-- cc-executor:begin metrics",
    )
  })

  test("change no version of the prompt", () => {
    for (const text of [front, oldPromptFormA, oldPromptFormB, "Do it."]) {
      const [before, after] = [text, rendered(text, mixed)].map((one) => {
        const read = readPrompt(one)
        return read.ok ? read.value.version : read.failure
      })
      expect(after).toEqual(before)
    }
  })

  test("say that the ledger is damaged, and count nothing", () => {
    const damages = [{ line: 3, kind: "signature" as const, reason: "it was changed" }]
    const text = rendered(front, { ...emptySummary, damages })
    expect(text).toContain("- **Ratio**: N/A: the ledger is damaged: line 3: it was changed\n")
    expect(text).not.toContain("Success**")
  })

  test("say how sure a ratio is, rounded outwards", () => {
    expect(intervalText(10, 0)).toBe("95 % interval of success 72–100 %")
    expect(intervalText(0, 0)).toBe("95 % interval of success 0–100 %")
    expect(intervalText(0, 1)).toBe("95 % interval of success 0–80 %")
  })
})

describe("counts that were changed by hand", () => {
  const shown = rendered(`${front}# Do\n`, mixed)
  const found = (text: string) => {
    const differences = differencesFrom(text, mixed)
    return differences.ok ? differences.value.map(differenceText) : [differences.failure.reason]
  }

  test("are found with their line, what is shown, and what follows", () => {
    expect(found(shown)).toEqual([])
    expect(found(shown.replace("**Success**: 2", "**Success**: 10"))).toEqual([
      'line 8: it says "- **Success**: 10", but the ledger shows "- **Success**: 2"',
    ])
    expect(found(shown.replace("- **Failure**: 2\n", ""))).toEqual([
      "line 8: what the ledger shows is missing: - **Failure**: 2",
    ])
    expect(found(shown.replace("| 0:2 |", "| 5:0 |"))[0]).toContain('but the ledger shows "| v1 |')
    expect(found(shown.replace("- **Failure**", "- **Graduated**: yes\n- **Failure**"))).toEqual([
      "line 9: nothing shows this: - **Graduated**: yes",
    ])
  })

  test("are restored, and the prose stays", () => {
    const edited = shown.replace("**Success**: 2", "**Success**: 10").replace("# Do", "# Do more")
    expect(rendered(edited, mixed)).toBe(shown.replace("# Do", "# Do more"))
  })
})

describe("adopting a file of the first generation", () => {
  test("keeps the counts of form A as claims, and starts at 0:0", () => {
    const { text, claims, proposed } = adopted(oldPromptFormA)
    expect(text).toContain(
      "## 📊 TASK METRICS & HISTORY\n<!-- cc-executor:begin metrics claimed=7:2 -->\n" +
        "- **Success/Failure Ratio**: 0:0 (Requires 10:1 to graduate; " +
        "95 % interval of success 0–100 %)\n" +
        "- **Last Updated**: never\n- **Claimed, unattested**: 7:2 before adoption\n" +
        "<!-- cc-executor:end -->\n- **Evolution History**:\n  | Version | Change & Reason |",
    )
    expect(text.slice(text.indexOf("- **Evolution"))).toBe(
      oldPromptFormA.slice(oldPromptFormA.indexOf("- **Evolution")),
    )
    expect(claims).toEqual([{ item: null, line: 4, words: "7:2" }])
    expect(proposed).toEqual([{ item: null, line: 28, run: "python a.py" }])
  })

  test("keeps those of form B, and goes on from there", () => {
    const { text } = adopted(oldPromptFormB)
    expect(text).toContain("- **Success**: 0\n- **Failure**: 0\n- **Total Executions**: 0\n")
    expect(text).not.toContain("**Success**: 9")
    expect(rendered(text, mixed)).toContain("- **Success**: 2\n")
    expect(rendered(text, mixed)).toContain("- **Claimed, unattested**: 9:4 before adoption\n")
  })

  test("calls the ticks of a list unattested, and only proposes its code spans", () => {
    const { text, claims, proposed } = adopted(oldTaskList)
    expect(claims.map(({ item }) => item).join(" ")).toBe("T00 T01 T02 T03 T05")
    expect(proposed).toContainEqual({ item: "T03", line: 29, run: 'pgrep -f "yes | pv"' })
    expect(text).toContain("**0 of 8 verified**, 5 claimed, unattested\n")
    expect(text).not.toContain("- [x] **T0")
    expect(text.match(/_Verified:_ unattested/g)).toHaveLength(5)
    expect(text).toContain("- [x] **T99 – not a task**")
    expect(text).not.toContain("Check:")
  })
})
