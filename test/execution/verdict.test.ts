import { describe, expect, test } from "bun:test"
import { type Findings, nothingFound } from "../../src/execution/evidence/evidence.ts"
import { checkClaim, type Verification } from "../../src/execution/verdict.ts"

const hashes = { chain: "c".repeat(64), stdout: "1".repeat(64), stderr: "2".repeat(64) }
const time = new Date("2026-11-16T12:00:00.000Z")
const intact: Verification = { chain: { kind: "intact" }, found: null }
const found: Verification = { ...intact, found: { stream: "stderr", sequence: 7, time } }

describe("a transcript that is whole", () => {
  test("is verified when nothing is claimed of it", () => {
    expect(checkClaim(intact, {}, hashes)).toEqual({ verified: true, chain: "intact" })
    expect(checkClaim(intact, {}, null)).toEqual({ verified: true, chain: "intact" })
  })

  test("confirms a text with its place", () => {
    expect(checkClaim(found, { contains: "x" }, hashes)).toEqual({
      verified: true,
      chain: "intact",
      where: { type: "stderr", sequence: 7, time: time.toISOString() },
    })
  })

  test("refutes a text that is not in it", () => {
    const verdict = checkClaim(intact, { contains: "x" }, hashes)
    expect(verdict).toMatchObject({ verified: false, chain: "intact" })
    expect(verdict.reason).toContain("not in the output")
  })

  test.each(["chain", "stdout", "stderr"] as const)("confirms the hash of %s by name", (name) => {
    for (const hash of [hashes[name], hashes[name].toUpperCase(), `sha256:${hashes[name]}`]) {
      expect(checkClaim(intact, { hash }, hashes)).toMatchObject({ verified: true, hash: name })
    }
  })

  test("refutes any other hash, and every hash while there is none to compare with", () => {
    const other = checkClaim(intact, { hash: "0".repeat(64) }, hashes)
    const early = checkClaim(intact, { hash: hashes.chain }, null)
    expect([other.verified, early.verified]).toEqual([false, false])
    expect(early.reason).toContain("has not ended")
    expect(checkClaim(intact, { hash: "" }, hashes).verified).toBe(false)
  })

  test("confirms a text and a hash only together", () => {
    const claim = { contains: "x", hash: hashes.stdout }
    expect(checkClaim(found, claim, hashes)).toMatchObject({ verified: true, hash: "stdout" })
    expect(checkClaim(intact, claim, hashes).verified).toBe(false)
    expect(checkClaim(found, { ...claim, hash: "0" }, hashes).verified).toBe(false)
  })
})

describe("a transcript of which the beginning was forgotten", () => {
  const rest: Verification = { chain: { kind: "intact-from", sequence: 4096 }, found: null }

  test("says from where on it is intact, and that a text may have been before", () => {
    expect(checkClaim(rest, {}, hashes)).toEqual({ verified: true, chain: "intact from 4096" })
    expect(checkClaim(rest, { contains: "x" }, hashes).reason).toContain("older output was dropped")
  })
})

describe("a transcript that is broken", () => {
  const chain = { kind: "broken-at", sequence: 12, why: "the record was changed" } as const

  test("confirms nothing, whatever is found in it", () => {
    for (const claim of [{}, { contains: "x" }, { hash: hashes.chain }]) {
      expect(checkClaim({ ...found, chain }, claim, hashes)).toEqual({
        verified: false,
        chain: "broken at 12",
        reason: "the record was changed",
      })
    }
  })
})

describe("a claim that a tool wrote a text", () => {
  const claim = { executed: "x" }
  const ran: Findings = {
    ...nothingFound,
    found: "executed",
    times: { executed: 1, claimed: 0, echoed: 0 },
    uses: 1,
  }

  test("is confirmed by the output of a tool, with what could have falsified it", () => {
    const verdict = checkClaim({ ...intact, evidence: ran }, claim, hashes)
    expect(verdict).toMatchObject({ verified: true, executed: { found: "executed" } })
    expect(verdict.executed?.caveat).toContain("the service's own user")
    const other = checkClaim({ ...intact, evidence: ran }, claim, hashes, true)
    expect(other.executed?.caveat).toContain("but not with the record")
  })

  test.each(["claimed", "echoed", "absent"] as const)("is refuted when it is %s", (kind) => {
    const evidence = { ...nothingFound, found: kind, unread: 2 }
    const verdict = checkClaim({ ...intact, evidence }, claim, hashes)
    expect(verdict).toMatchObject({ verified: false, executed: { found: kind } })
    expect(verdict.reason).toContain("2 events could not be read")
  })

  test("is refuted when there is nothing to look at, and says what was dropped", () => {
    expect(checkClaim(intact, claim, hashes)).toMatchObject({
      verified: false,
      executed: { found: "absent" },
    })
    const chain = { kind: "intact-from", sequence: 4096 } as const
    expect(checkClaim({ chain, found: null }, claim, hashes).reason).toContain("was dropped")
  })

  test("is worth nothing in a record that was tampered with", () => {
    const chain = { kind: "broken-at", sequence: 0, why: "x" } as const
    const verdict = checkClaim({ chain, found: null, evidence: ran }, claim, hashes)
    expect(verdict).toEqual({ verified: false, chain: "broken at 0", reason: "x" })
  })
})
