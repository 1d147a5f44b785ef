import { describe, expect, test } from "bun:test"
import { additionTo } from "../../../src/workflow/ledger/ledger-text.ts"
import { summarize } from "../../../src/workflow/ledger/summary.ts"
import { verifyLedger } from "../../../src/workflow/ledger/verify-ledger.ts"
import { SignedChain } from "../../support/signed-trials.ts"

const chain = new SignedChain().addAll(4)
const journaled = chain.trials.map((trial) => {
  return { sequence: trial.announcement.sequence, envelope: chain.attest(trial) }
})

describe("reading signatures only", () => {
  const context = chain.context({ signaturesOnly: true })

  test("finds the same trials, without their receipts", () => {
    const read = verifyLedger(chain.text, context)
    const whole = verifyLedger(chain.text, chain.context())
    expect(read.damages).toEqual([])
    expect(summarize(read).life).toEqual(summarize(whole).life)
    expect(JSON.stringify(read.trials)).not.toContain('"receipt"')
  })

  test("still refuses what no service has signed as it stands", () => {
    const [line = ""] = chain.lines
    for (const other of [line.replace("{", "{ "), line.replace('"sig":"', '"sig":"A'), "{}"]) {
      expect(verifyLedger(chain.text.replace(line, other), context).damages.length).toBeGreaterThan(
        0,
      )
    }
  })
})

describe("what a ledger lacks at its end", () => {
  const trials = verifyLedger(chain.text, chain.context()).trials.map(({ trial }) => trial)

  test("is nothing, or the lines to append", () => {
    expect(additionTo(trials, [])).toBe("")
    expect(additionTo([], journaled)).toBe(chain.text)
    expect(additionTo(trials.slice(0, 2), journaled.slice(2))).toBe(
      `${chain.lines.slice(2).join("\n")}\n`,
    )
  })

  test("is not known where something is missing in between", () => {
    expect(additionTo(trials.slice(2), journaled.slice(0, 2))).toBeNull()
  })
})
