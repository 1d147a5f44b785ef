import { describe, expect, test } from "bun:test"
import { TrialDefinition, TrialVerdict } from "../../../src/execution/trial/announcement.ts"
import {
  type AttestedTrial,
  Statement,
  statementOf,
} from "../../../src/execution/trial/attestation.ts"

const digest = "a".repeat(64)
const definition = TrialDefinition.parse({
  steps: [
    { id: "red", role: "red", red: "base", run: "make test", cwd: "/w" },
    { id: "green", role: "green", run: "make test", cwd: "/w" },
    { id: "guard", role: "guard", run: "make lint", cwd: "/w" },
  ],
})

function attested(more: Partial<AttestedTrial> = {}, item?: string): AttestedTrial {
  const work = { name: "T01", kind: "prompt", path: "/w/T01.md", ...(item && { item }) }
  const nothing = { reason: "-", exit: null, execution_id: null, reused: false, marker: null }
  const unknown = { ...nothing, marker_found: null, session: null, receipt: null }
  return {
    v: 1,
    verdict: "PASSED",
    reasons: ["-"],
    chain: digest,
    announcement: {
      v: 1,
      trial: "b".repeat(26),
      chain: null,
      sequence: 1,
      previous: null,
      work,
      version: "c".repeat(64),
      definition,
      principal: "local",
      announced_at: "2026-11-18T14:30:22.000Z",
    },
    announcement_digest: digest,
    steps: [
      { id: "red", role: "red", finding: "right", ...unknown },
      { id: "green", role: "green", finding: "failed", ...unknown },
      { id: "guard", role: "guard", finding: "broken", ...unknown },
    ],
    judged_at: "2026-11-18T14:31:22.000Z",
    same_user: true,
    keyid: "0123456789abcdef",
    ...more,
  }
}

describe("a statement about a trial", () => {
  test("is about the work's own text, or about one item of it", () => {
    const [subject] = statementOf(attested(), []).subject
    expect(subject).toEqual({ name: "T01", digest: { sha256: "c".repeat(64) } })
    expect(statementOf(attested({}, "3.2"), []).subject[0].name).toBe("T01#3.2")
  })

  test("says in the words of the predicate what the verdict means", () => {
    const results = TrialVerdict.options.map(
      (verdict) => statementOf(attested({ verdict }), []).predicate.result,
    )
    expect(results).toEqual(["PASSED", "WARNED", "FAILED", "WARNED", "FAILED"])
  })

  test("sorts the steps by what was found", () => {
    const { predicate } = statementOf(attested(), [])
    expect(predicate.passedTests).toEqual(["red"])
    expect(predicate.failedTests).toEqual(["green"])
    expect(predicate.warnedTests).toEqual(["guard"])
  })

  test("is of its own schema", () => {
    const statement = statementOf(attested(), [{ name: "red", digest: { sha256: digest } }])
    expect(Statement.parse(JSON.parse(JSON.stringify(statement)))).toEqual(statement)
  })
})
