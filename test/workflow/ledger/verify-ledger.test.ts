import { describe, expect, test } from "bun:test"
import type { AttestedTrial } from "../../../src/execution/trial/attestation.ts"
import { damageText } from "../../../src/workflow/ledger/damage.ts"
import { ledgerPathOf, lineOf, mergeLedger } from "../../../src/workflow/ledger/ledger-text.ts"
import { type LedgerContext, verifyLedger } from "../../../src/workflow/ledger/verify-ledger.ts"
import { newKey, SignedChain } from "../../support/signed-trials.ts"

const chain = new SignedChain()
chain.add({ ends: { "green-1": 1 } })
chain.addAll(2)
chain.add({ lost: "the service ended", ends: { "green-1": "not-run" } })
chain.add({ session: {}, recovery: ["a", "b", "c"] })

/** What is told of these lines in the place of those of the chain. */
function told(lines: readonly string[], more: Partial<LedgerContext> = {}): string[] {
  const text = lines.map((line) => `${line}\n`).join("")
  return verifyLedger(text, chain.context(more)).damages.map(damageText)
}

function without(...numbers: number[]): string[] {
  return chain.lines.filter((_, index) => !numbers.includes(index + 1))
}

function withLine(number: number, line: string): string[] {
  return chain.lines.with(number - 1, line)
}

/** A line with the same trial, changed and signed again by the service's own key. */
function forged(number: number, change: (trial: AttestedTrial) => void): string[] {
  const trial = structuredClone(chain.trials[number - 1])
  if (trial === undefined) throw new Error(`no trial ${number}`)
  change(trial)
  return withLine(number, lineOf(chain.attest(trial)))
}

describe("a ledger as it was written", () => {
  test("is sound", () => {
    const { trials, damages, notices, head } = verifyLedger(chain.text, chain.context())

    expect(damages).toEqual([])
    expect(notices).toEqual([])
    expect(trials.map(({ line, trial }) => [line, trial.verdict])).toEqual([
      [1, "FAILED"],
      [2, "PASSED"],
      [3, "PASSED"],
      [4, "LOST"],
      [5, "PASSED"],
    ])
    expect(head).toEqual(chain.head)
  })

  test("is sound on another machine, where its end cannot be checked", () => {
    const elsewhere = chain.context({ journal: null, paths: null })
    const { damages, notices } = verifyLedger(chain.text, elsewhere)
    expect(damages).toEqual([])
    expect(notices.join()).toContain("whether there were trials after 5 cannot be checked here")
  })

  test("may be empty, and have been moved with its file", () => {
    expect(verifyLedger("", new SignedChain().context()).damages).toEqual([])
    expect(told(chain.lines, { paths: new Set(["/w/core/T01.md", "/w/T01.md"]) })).toEqual([])
    expect(ledgerPathOf("/w/T01.md")).toBe("/w/T01.md.intoto.jsonl")
  })

  test("may lack what is under way", () => {
    const journal = { head: chain.head, open: [{ sequence: 3, item: null }] }
    expect(told(without(3), { journal })).toEqual([])
    expect(
      told(without(5), { journal: { ...journal, open: [{ sequence: 5, item: null }] } }),
    ).toEqual([])
  })

  test("goes on on another machine, with its key", () => {
    const travelled = new SignedChain()
    travelled.add()
    const first = travelled.key
    travelled.key = newKey()
    travelled.add()
    const publicKeys = [first.publicPem, travelled.key.publicPem]
    expect(verifyLedger(travelled.text, travelled.context({ publicKeys })).damages).toEqual([])
    const journal = {
      head: { sequence: 1, digest: travelled.trials[0]?.announcement_digest ?? "" },
      open: [],
    }
    const { damages, notices } = verifyLedger(
      travelled.text,
      travelled.context({ publicKeys, journal }),
    )
    expect(damages).toEqual([])
    expect(notices.join()).toContain("up to 1")
  })

  test("uses a red again in later trials", () => {
    const reusing = new SignedChain()
    const red = reusing.add().steps[0]?.execution_id ?? ""
    reusing.add({ reusesRed: red })
    expect(reusing.trials.map(({ verdict }) => verdict)).toEqual(["PASSED", "PASSED"])
    expect(verifyLedger(reusing.text, reusing.context()).damages).toEqual([])
  })
})

describe("damage is told in words, with its line", () => {
  const other = new SignedChain(chain.key, { name: "T02", path: "/w/T02.md" })
  other.add()

  test("deleted", () => {
    expect(told(without(1))).toEqual(["trial 1 is missing: deleted"])
    expect(told(without(1, 3, 4))).toEqual(["trials 1, 3–4 are missing: deleted"])
    expect(told(without(1), { journal: null })).toEqual([
      "trial 1 is missing: deleted, or still under way where this was written",
    ])
  })

  test("cut off at its end", () => {
    expect(told(without(4, 5))).toEqual([
      "the end is cut off: trials 4–5 are in the journal, but not here",
    ])
    expect(told([])).toEqual(["the end is cut off: trials 1–5 are in the journal, but not here"])
  })

  test("edited", () => {
    const [line = ""] = chain.lines
    const payload = Buffer.from(JSON.parse(line).payload, "base64").toString()
    const edited = Buffer.from(payload.replace('"FAILED"', '"PASSED"')).toString("base64")
    expect(told(withLine(1, line.replace(JSON.parse(line).payload, edited)))).toEqual([
      "line 1: the signature does not match: it was changed after it was signed",
    ])
    expect(told(withLine(2, "PASSED"))).toEqual([
      "line 2: this is no attestation of a trial: it is not JSON",
    ])
    expect(told(withLine(2, line.replace('{"', '{ "')))[0]).toContain("line 2: it is not as it was")
  })

  test("signed by another key", () => {
    const stranger = new SignedChain(newKey())
    stranger.addAll(5)
    expect(told(withLine(2, stranger.lines[1] ?? ""))[0]).toMatch(
      /^line 2: it is signed by the key [0-9a-f]{16}, which is not trusted here$/,
    )
    const [line] = stranger.lines.map((one) => one.replace(stranger.key.keyid, chain.key.keyid))
    expect(told(withLine(1, line ?? ""))[0]).toContain("line 1: the signature does not match")
    expect(told(chain.lines, { publicKeys: ["no key"] })).toHaveLength(5)
  })

  test("copied from another file", () => {
    const [line = ""] = other.lines
    expect(told([...chain.lines, line])).toEqual([
      "line 6: it is about the prompt T02, and this is the prompt T01",
    ])
    const namesake = new SignedChain(chain.key, { path: "/w/b/T01.md" })
    namesake.addAll(6)
    expect(told([...chain.lines, namesake.lines[5] ?? ""])).toEqual([
      "line 6: it is about /w/b/T01.md, which is another file",
    ])
    expect(told([...chain.lines, namesake.lines[5] ?? ""], { paths: null })).toEqual([
      "line 6: it is of another chain than the first one: it was copied here",
    ])
    expect(told(namesake.lines, { journal: null })[0]).toContain("which is another file")
  })

  test("twice, or in another order", () => {
    const [first = "", second = "", ...rest] = chain.lines
    expect(told([first, first, second, ...rest])).toEqual([
      "line 2: trial 1 stands in line 1 already",
    ])
    expect(told([second, first, ...rest])).toEqual(["line 2: trial 1 stands after trial 2"])
  })

  test("another trial in the place of one", () => {
    const fork = new SignedChain(chain.key)
    fork.add({ ends: { "green-1": 1 } })
    fork.add({ version: "f".repeat(64) })
    expect(told(withLine(2, fork.lines[1] ?? ""))).toEqual([
      "line 3: trial 3 follows another trial 2 than the one here",
    ])
    const journal = { head: { sequence: 5, digest: "f".repeat(64) }, open: [] }
    expect(told(chain.lines, { journal })).toEqual([
      "line 5: trial 5 is another one in the journal",
    ])
  })
})

describe("whoever has the key still cannot", () => {
  test("state another verdict than follows", () => {
    const passed = forged(1, (trial) => {
      trial.verdict = "PASSED"
    })
    expect(told(passed)).toEqual(["line 1: it says PASSED, but what stands inside makes it FAILED"])
    const found = forged(1, (trial) => {
      for (const step of trial.steps) step.finding = "right"
    })
    expect(told(found)[0]).toBe("line 1: what it says of green green-1 does not follow")
  })

  test("put receipts into other steps, or of other trials", () => {
    const swapped = forged(2, (trial) => {
      const [red, , green] = trial.steps
      if (red && green) green.receipt = red.receipt
    })
    expect(told(swapped)[0]).toContain("line 2: the receipt of green green-1: it is of ")
    const borrowed = forged(1, (trial) => {
      const [, , green] = trial.steps
      const passed = chain.trials[1]?.steps[2]
      if (green && passed) Object.assign(green, passed)
    })
    expect(told(borrowed)[0]).toMatch(
      /the receipt of green green-1: it is of the green green-1 of trial/,
    )
  })

  test("keep a receipt that was changed or signed by another key", () => {
    const changed = forged(2, (trial) => {
      const receipt = trial.steps[0]?.receipt
      if (receipt) receipt.payload = `A${receipt.payload.slice(1)}`
    })
    expect(told(changed)[0]).toContain("the receipt of red red-1: the signature does not match")
    const foreign = new SignedChain(newKey())
    foreign.add()
    const signed = forged(2, (trial) => {
      const [step] = trial.steps
      if (step) step.receipt = foreign.trials[0]?.steps[0]?.receipt ?? null
    })
    expect(told(signed)[0]).toContain("the receipt of red red-1: it is signed by the key")
  })

  test("announce afterwards something else", () => {
    const changed = forged(2, (trial) => {
      for (const step of trial.announcement.definition.steps)
        if (step.role !== "act") step.run = "true"
    })
    expect(told(changed)[0]).toContain("line 2: its announcement is not what its digest says")
    const check = forged(2, (trial) => {
      for (const step of trial.steps) if (step.run !== undefined) step.run = "true"
    })
    expect(told(check)[0]).toContain("line 2: the step red-1 is not what was announced")
  })

  test("say less of what a session cost", () => {
    const cheap = forged(5, (trial) => {
      for (const { session } of trial.steps) if (session) session.cost_usd = 0
    })
    expect(told(cheap)[0]).toContain("something else of the agent's session")
  })
})

const journaled = chain.trials.map((trial) => {
  return { sequence: trial.announcement.sequence, envelope: chain.attest(trial) }
})

describe("what the journal has", () => {
  test("restores what was deleted, cut off, edited or copied here", () => {
    const copied = new SignedChain(chain.key, { path: "/w/b.md" })
    copied.addAll(9)
    for (const lines of [
      [],
      without(1),
      without(4, 5),
      withLine(2, "{}"),
      withLine(2, copied.lines[1] ?? ""),
      [...chain.lines, copied.lines[8] ?? ""],
      [...chain.lines, ...chain.lines],
      chain.lines.toReversed(),
    ]) {
      expect(mergeLedger(`${lines.join("\n")}\n`, journaled)).toBe(chain.text)
    }
  })

  test("keeps what it does not know", () => {
    expect(mergeLedger(chain.text, [])).toBe(chain.text)
    expect(mergeLedger(chain.text, journaled.slice(0, 2))).toBe(chain.text)
  })
})
