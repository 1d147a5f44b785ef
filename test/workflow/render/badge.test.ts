import { describe, expect, test } from "bun:test"
import { readWork } from "../../../src/workflow/documents/work-kind.ts"
import { type LedgerSummary, summarize } from "../../../src/workflow/ledger/summary.ts"
import { badge } from "../../../src/workflow/render/badge.ts"
import { SignedChain } from "../../support/signed-trials.ts"

const front = "---\nname: T01\nchecks: [make test]\n---\n# T01\n\n- **Success**: 98765\n"
const version = "a".repeat(64)

function badgeOf(text: string, chain: SignedChain, more: Partial<LedgerSummary> = {}): string {
  const work = readWork(text)
  if (!work.ok) throw new Error(work.failure.reason)
  const summary = { ...chain.summary, ...more }
  return badge({ name: "T01", work: work.value, summary, head: chain.head })
}

const textIn = (svg: string) => [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)
const titlesIn = (svg: string) => [...svg.matchAll(/<g><title>([^<]*)</g)].map(([, text]) => text)

describe("the badge of a prompt", () => {
  test("has the counts of the ledger, and how they have come about", () => {
    const chain = SignedChain.unsigned()
    chain.addAll(2, { ends: { "green-1": 1 } })
    chain.addAll(10, { version })

    const svg = badgeOf(front, chain)

    expect(textIn(svg)).toEqual(["T01", "10:2 · ≥ 55 %"])
    expect(titlesIn(svg)).toEqual(["v1: 0:2", "v2: 10:0"])
    expect(svg).toContain(`Ledger up to trial 12, ${chain.head?.digest}.`)
    expect(svg).not.toContain("98765")
  })

  test("claims nothing where nothing was tried, or nothing proven", () => {
    const none = SignedChain.unsigned()
    const warned = SignedChain.unsigned().addAll(3, { ends: { "red-1": 0 } })

    expect(textIn(badgeOf(front, none))).toEqual(["T01", "nothing proven"])
    expect(textIn(badgeOf(front, warned))).toEqual(["T01", "nothing proven"])
    expect(titlesIn(badgeOf(front, warned))).toEqual(["v1: 0:0"])
  })

  test("shows no number of a damaged ledger", () => {
    const chain = SignedChain.unsigned().addAll(10)
    const damage = { line: 3, kind: "signature", reason: "changed" } as const
    const verified = { trials: [], notices: [], open: [], chain: null, head: null }
    const damaged = summarize({ ...verified, damages: [damage] })

    const svg = badgeOf(front, chain, damaged)

    expect(textIn(svg)).toEqual(["T01", "ledger damaged"])
    expect(titlesIn(svg)).toEqual([])
    expect(svg).not.toContain("10:0")
  })

  test("is green only for one that could graduate", () => {
    const recovery = ["a", "b", "c"]
    const ready = front.replace("checks:", "recovery: [a, b, c]\nchecks:")
    const colourOf = (svg: string) =>
      /<rect x="\d+" width="\d+" height="20" fill="(#\w+)"/.exec(svg)?.[1]
    const proven = badgeOf(ready, SignedChain.unsigned().addAll(10, { recovery }))
    const open = badgeOf(front, SignedChain.unsigned().addAll(10))
    const failing = badgeOf(front, SignedChain.unsigned().addAll(1, { ends: { "green-1": 1 } }))

    expect(new Set([proven, open, failing].map(colourOf)).size).toBe(3)
    expect(colourOf(proven)).toBe("#1a7f37")
  })
})

test("the badge of a list has what is verified, and not what is ticked or accepted", () => {
  const list = `# L

- [x] **T01 – One**
  Check: \`make test\`
- [x] **T02 – Two**
  _Verified:_ accepted by somebody: it is fine
- [x] **T03 – Three**
`
  const chain = SignedChain.unsigned({ kind: "tasks", name: "T01", path: "/w/T01.md" })
  const read = readWork(list)
  const first = read.ok && read.value.kind === "tasks" ? read.value.tasks[0] : undefined
  chain.add({ item: "T01", version: first?.version ?? "" })

  const svg = badgeOf(list, chain)

  expect(textIn(svg)).toEqual(["T01", "1 of 3 verified"])
  expect(titlesIn(svg)).toEqual(["trial 1: PASSED"])
})

test("whatever a work is called, its badge is one picture", () => {
  const work = readWork(front)
  if (!work.ok) throw new Error(work.failure.reason)
  const name = `<script>alert(1)</script>"&'\u0000\u202E${"x".repeat(100)}`
  const chain = SignedChain.unsigned()

  const svg = badge({ name, work: work.value, summary: chain.summary, head: null })

  const reading =
    "import sys, xml.etree.ElementTree as tree\n" +
    "for e in tree.fromstring(sys.stdin.buffer.read()).iter(): print(e.tag.split('}')[1])"
  const { stdout } = Bun.spawnSync(["/usr/bin/python3", "-c", reading], { stdin: Buffer.from(svg) })
  const elements = stdout.toString().trim().split("\n")
  expect(elements).toEqual(["svg", "title", "desc", "rect", "rect", "text", "text"])
  expect(svg).not.toContain("\u0000")
  expect(svg).not.toMatch(/\u202E|\bsrc=|href/)
})
