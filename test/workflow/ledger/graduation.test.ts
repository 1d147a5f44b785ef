import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { countsAs, TrialVerdict } from "../../../src/execution/trial/announcement.ts"
import { readPrompt } from "../../../src/workflow/documents/prompt.ts"
import { countsOf } from "../../../src/workflow/ledger/counts.ts"
import { judgeGraduation } from "../../../src/workflow/ledger/graduation.ts"
import { type LedgerSummary, summarize } from "../../../src/workflow/ledger/summary.ts"
import { verifyLedger } from "../../../src/workflow/ledger/verify-ledger.ts"
import { wilsonInterval } from "../../../src/workflow/ledger/wilson.ts"
import { SignedChain, type TrialOptions } from "../../support/signed-trials.ts"

const recovery = ["a", "b", "c"]

function judged(success: number, failure: number, more: TrialOptions = {}, settings = "") {
  const chain = SignedChain.unsigned()
  chain.addAll(failure, { ends: { "green-1": 1 } }).addAll(success, { recovery, ...more })
  return judgedBy(chain.summary, settings)
}

function judgedBy(summary: LedgerSummary, settings = "") {
  const list = `[${recovery.join(", ")}]`
  const prompt = readPrompt(`---\nchecks: make test\nrecovery: ${list}\n${settings}---\n# Do\n`)
  if (!prompt.ok) throw new Error(prompt.failure.reason)
  return judgeGraduation(prompt.value, summary)
}

describe("a prompt graduates", () => {
  test.each([
    [10, 0],
    [10, 1],
    [20, 2],
  ])("at %d:%d", (success, failure) => {
    const { graduates, missing } = judged(success, failure)
    expect({ graduates, missing }).toEqual({ graduates: true, missing: [] })
  })

  test.each([
    [9, 0, "9:0, which needs 10 successes: 1 more"],
    [1, 0, "1:0, which needs 10 successes: 9 more"],
    [9, 1, "9:1, which needs 10 successes: 1 more"],
    [19, 2, "19:2, which needs 20 successes: 1 more"],
  ])("not at %d:%d, and is told what is missing", (success, failure, why) => {
    expect(judged(success, failure)).toMatchObject({ graduates: false, missing: [why] })
  })

  test("only with three different recovery tests that are green", () => {
    const two = judged(10, 1, { recovery: ["a", "b"] })
    expect(two).toMatchObject({ graduates: false, recoveryGreen: 2 })
    expect(two.missing).toEqual(["2 of at least 3 recovery tests are green"])
    const same = "recovery: [a, a, a]\n"
    expect(judgedBy(summarizeOf(10, ["a", "a", "a"]), "").recoveryGreen).toBe(1)
    expect(readPrompt(`---\n${same}---\n`).ok).toBe(true)
  })

  test("only with recovery tests that are not the checks themselves", () => {
    const prompt = readPrompt(`---\nchecks: [a, b, c]\nrecovery: [a, b, c]\n---\n`)
    if (!prompt.ok) throw new Error(prompt.failure.reason)
    const { recoveryGreen } = judgeGraduation(prompt.value, summarizeOf(10, recovery))
    expect(recoveryGreen).toBe(0)
  })

  test("only with a ledger that is intact", () => {
    const damages = [{ line: null, kind: "missing" as const, reason: "trial 3 is missing" }]
    const { missing } = judgedBy({ ...summarizeOf(10, recovery), damages })
    expect(missing).toEqual(["the ledger is damaged: trial 3 is missing"])
    const chain = new SignedChain()
    chain.add({ ends: { "green-1": 1 } })
    chain.addAll(2)
    const cut = chain.text.slice(chain.text.indexOf("\n") + 1)
    const found = judgedBy(summarize(verifyLedger(cut, chain.context())))
    expect(found.counts).toMatchObject({ success: 0, failure: 0 })
    expect(found.missing[0]).toBe("the ledger is damaged: trial 1 is missing: deleted")
  })

  test("by the trials of its version alone, where it says so", () => {
    const ofVersion = "graduation: {ratio: 2, of: version}\n"
    const { missing, needed } = judged(10, 0, {}, ofVersion)
    expect(needed).toBe(2)
    expect(missing).toEqual(["0:0 of this version, which needs 2 successes: 2 more"])
  })
})

function summarizeOf(count: number, tests: readonly string[]): LedgerSummary {
  return SignedChain.unsigned().addAll(count, { recovery: tests }).summary
}

describe("counts", () => {
  test("are those of a model, whatever the verdicts were", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...TrialVerdict.options)), (verdicts) => {
        const model = { success: 0, failure: 0, warned: 0, broken: 0, lost: 0 }
        for (const verdict of verdicts) {
          if (verdict === "PASSED") model.success += 1
          if (verdict === "FAILED" || verdict === "LOST") model.failure += 1
          if (verdict === "LOST") model.lost += 1
          if (verdict === "WARNED") model.warned += 1
          if (verdict === "BROKEN") model.broken += 1
        }
        expect(countsOf(verdicts)).toEqual(model)
        const counted = verdicts.filter((verdict) => countsAs(verdict) !== null)
        expect(model.success + model.failure).toBe(counted.length)
      }),
    )
  })

  test("are told for the life of a work and for each version, with costs", () => {
    const chain = new SignedChain()
    chain.add({ ends: { "green-1": 1 }, session: { cost_usd: 1 } })
    const red = chain.trials[0]?.steps[0]?.execution_id ?? ""
    chain.add({ session: { cost_usd: 0.5 }, reusesRed: red })
    chain.add({ version: "b".repeat(64), session: { cost_usd: 0.5 } })
    const summary = summarize(verifyLedger(chain.text, chain.context()))

    expect(summary.life).toMatchObject({ success: 2, failure: 1 })
    expect(
      summary.versions.map(({ counts, first, last }) => [counts.success, first, last]),
    ).toEqual([
      [1, 1, 2],
      [1, 3, 3],
    ])
    expect(summary.costUsd).toBe(2)
    expect(summary.costPerSuccessUsd).toBe(1)
    expect(summarizeOf(1, []).costPerSuccessUsd).toBeNull()
  })
})

describe("Wilson's interval", () => {
  test.each([
    [10, 0, 0.7225, 1],
    [0, 10, 0, 0.2775],
    [5, 5, 0.2366, 0.7634],
    [90, 10, 0.8256, 0.9448],
  ])("of %d:%d", (success, failure, low, high) => {
    const interval = wilsonInterval(success, failure)
    expect(interval.low).toBeCloseTo(low, 4)
    expect(interval.high).toBeCloseTo(high, 4)
  })

  test("holds the share itself, and narrows with more trials", () => {
    const count = fc.nat({ max: 10_000 })
    fc.assert(
      fc.property(count, count, (success, failure) => {
        const { low, high } = wilsonInterval(success, failure)
        const share = success + failure === 0 ? 0.5 : success / (success + failure)
        expect(low <= share && share <= high && low >= 0 && high <= 1).toBe(true)
        const more = wilsonInterval(success * 10, failure * 10)
        expect(more.high - more.low).toBeLessThanOrEqual(high - low)
      }),
    )
  })
})
