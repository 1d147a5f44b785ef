import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type Outcome, StopCause } from "../../../src/execution/state.ts"
import { countsAs, StepRole, TrialDefinition } from "../../../src/execution/trial/announcement.ts"
import type { Finding, StepFacts } from "../../../src/execution/trial/attestation.ts"
import { judgeTrial } from "../../../src/execution/trial/verdict.ts"

const check = "make test"

/** A trial with one step of every role, around one check. */
const { steps } = TrialDefinition.parse({
  steps: [
    { id: "needs", role: "needs", run: "curl -sf localhost", check: "localhost", cwd: "/w" },
    { id: "setup", role: "setup", run: "npm ci", cwd: "/w" },
    { id: "before", role: "guard", run: "npm run lint", cwd: "/w" },
    { id: "spoil", role: "spoil", run: "rm x", cwd: "/w" },
    { id: "red", role: "red", red: "base", run: check, cwd: "/base" },
    { id: "probe", role: "probe", run: check, cwd: "/w" },
    { id: "act", role: "act", argv: ["./work"], cwd: "/w" },
    { id: "green", role: "green", run: check, cwd: "/w" },
    { id: "after", role: "guard", run: "npm run lint", cwd: "/w" },
  ],
})

const exit = (exitCode: number): Outcome => ({ kind: "exited", exitCode })

function factsOf(outcome: Outcome | null, more: Partial<StepFacts> = {}): StepFacts {
  const execution_id = "a".repeat(26)
  return { execution_id, reused: false, outcome, marker: "seen", session: null, ...more }
}

const asItShouldBe: Record<string, StepFacts> = Object.fromEntries(
  steps.map(({ id, role }) => {
    const marker = role === "act" ? null : ("seen" as const)
    return [id, factsOf(exit(role === "red" ? 1 : 0), { marker })]
  }),
)

function judged(changed: Record<string, StepFacts | null>, lost: string | null = null) {
  const facts = new Map<string, StepFacts>()
  for (const [id, one] of Object.entries({ ...asItShouldBe, ...changed })) {
    if (one !== null) facts.set(id, one)
  }
  return judgeTrial({ steps }, facts, lost)
}

function findingOf(id: string, facts: StepFacts): Finding | undefined {
  return judged({ [id]: facts }).steps.find((step) => step.id === id)?.finding
}

const stops = StopCause.options.map((cause) => ({ kind: "stopped", cause, exit: null }) as const)
const noOwnExit: Array<Outcome | null> = [
  ...[126, 127, 128, 137, 143, 255].map(exit),
  { kind: "signaled", signal: "SIGSEGV" },
  { kind: "failed-to-start", errno: "ENOENT", message: "no bash" },
  { kind: "lost", reason: "internal" },
  ...stops,
  null,
]
const ownFailures = [1, 2, 64, 101, 125].map(exit)

describe("a step of a role", () => {
  const whenItFails: Record<string, Finding> = {
    needs: "broken",
    setup: "broken",
    spoil: "broken",
    before: "broken",
    red: "right",
    probe: "right",
    act: "failed",
    green: "failed",
    after: "failed",
  }

  test.each(Object.entries(whenItFails))("%s that fails by itself is %s", (id, finding) => {
    for (const outcome of ownFailures) expect(findingOf(id, factsOf(outcome))).toBe(finding)
  })

  test.each(Object.keys(whenItFails))("%s that passes is right, unless it must fail", (id) => {
    expect(findingOf(id, factsOf(exit(0)))).toBe(id === "red" ? "warned" : "right")
  })

  test.each(Object.keys(whenItFails).filter((id) => id !== "act"))(
    "%s is broken where it came to no end of its own, or shows no marker",
    (id) => {
      for (const outcome of noOwnExit) expect(findingOf(id, factsOf(outcome))).toBe("broken")
      for (const outcome of [exit(0), exit(1)]) {
        for (const marker of ["none", "other-exit", null] as const) {
          expect(findingOf(id, factsOf(outcome, { marker }))).toBe("broken")
        }
      }
    },
  )

  test("an act fails by whatever end it came to, unless that was the machine's", () => {
    const machines = ["disk-full", "shutdown", "usage-limit"]
    for (const outcome of noOwnExit) {
      const isNotItsOwn =
        outcome === null ||
        outcome.kind === "failed-to-start" ||
        outcome.kind === "lost" ||
        (outcome.kind === "stopped" && machines.includes(outcome.cause))
      expect(findingOf("act", factsOf(outcome))).toBe(isNotItsOwn ? "broken" : "failed")
    }
  })

  test("a session has succeeded only when its last turn has", () => {
    const session = { turns: 1, cost_usd: 0, end: null }
    const turns = [
      "success",
      "error",
      "interrupted",
      "max-turns",
      "max-cost",
      "limit",
      null,
    ] as const
    for (const last_turn of turns) {
      const facts = factsOf(exit(0), { marker: null, session: { ...session, last_turn } })
      expect(findingOf("act", facts)).toBe(last_turn === "success" ? "right" : "failed")
    }
  })
})

describe("a verdict", () => {
  test("is PASSED when all is as it should be", () => {
    const { verdict, reasons } = judged({})
    expect(verdict).toBe("PASSED")
    expect(reasons).toEqual(["every check failed where it must, and passes now"])
  })

  test.each([
    ["FAILED", { act: factsOf(exit(1)), green: null, after: null }],
    ["FAILED", { green: factsOf(exit(1)) }],
    ["FAILED", { after: factsOf(exit(1)) }],
    // What was seen to fail does not become uncertain by what is uncertain beside it.
    ["FAILED", { green: factsOf(exit(1)), after: factsOf(exit(127)) }],
    ["BROKEN", { setup: factsOf(exit(1)), red: null, act: null, green: null }],
    ["BROKEN", { needs: factsOf(exit(1)), red: null, act: null, green: null }],
    ["BROKEN", { red: factsOf(exit(127)), act: null, green: null, after: null }],
    ["BROKEN", { green: factsOf(exit(127)) }],
    ["BROKEN", { green: factsOf(exit(0), { marker: "none" }) }],
    ["BROKEN", { before: factsOf(exit(1)) }],
    ["WARNED", { red: factsOf(exit(0)) }],
    ["WARNED", { red: factsOf(exit(0)), act: null, green: null, after: null }],
    // Nothing is counted by a check that was never seen to fail, not even against somebody.
    ["WARNED", { red: factsOf(exit(0)), green: factsOf(exit(1)) }],
    ["WARNED", { red: factsOf(exit(0)), act: factsOf(exit(1)), green: null }],
  ] as const)("is %s (%#)", (verdict, changed) => {
    expect(judged(changed).verdict).toBe(verdict)
  })

  test("is not changed by what a probe has found", () => {
    for (const outcome of [...noOwnExit, ...ownFailures]) {
      expect(judged({ probe: factsOf(outcome) }).verdict).toBe("PASSED")
    }
    expect(judged({ probe: null }).verdict).toBe("PASSED")
  })

  test("is FAILED when what follows an act is not looked at", () => {
    for (const id of ["green", "after"]) {
      const { verdict, reasons } = judged({ [id]: null })
      expect(verdict).toBe("FAILED")
      expect(reasons.join()).toContain("never run, although the act had begun")
    }
  })

  test("is BROKEN when it was given up before the act", () => {
    expect(judged({ act: null, green: null, after: null }).verdict).toBe("BROKEN")
    const nothing = Object.fromEntries(steps.map(({ id }) => [id, null]))
    expect(judged(nothing).verdict).toBe("BROKEN")
  })

  test("is LOST whatever its steps have come to, and says why", () => {
    expect(judged({}, "the service ended")).toMatchObject({
      verdict: "LOST",
      reasons: ["the service ended"],
    })
  })

  test("counts only what was seen to fail and then to pass, or not to", () => {
    const counts = (["PASSED", "WARNED", "FAILED", "BROKEN", "LOST"] as const).map(countsAs)
    expect(counts).toEqual(["success", null, "failure", null, "failure"])
  })
})

describe("a check", () => {
  const two = TrialDefinition.parse({
    steps: [
      { id: "red", role: "red", red: "empty", run: "one", cwd: "/w" },
      { id: "green-1", role: "green", run: "one", cwd: "/w" },
      { id: "green-2", role: "green", run: "two", cwd: "/w" },
      { id: "again", role: "red", red: "base", run: "one", cwd: "/w", optional: true },
    ],
  })
  const verdictOf = (facts: Record<string, number>) =>
    judgeTrial(
      two,
      new Map(Object.entries(facts).map(([id, code]) => [id, factsOf(exit(code))])),
      null,
    )

  test("is not vouched for by another one that was seen to fail", () => {
    const { verdict, steps: told } = verdictOf({ red: 1, "green-1": 0, "green-2": 0 })
    expect(verdict).toBe("WARNED")
    expect(told.map(({ finding }) => finding)).toEqual(["right", "right", "warned", "not-run"])
  })

  test("that passes by what the act wrote alone proves nothing", () => {
    const facts = { red: 1, "green-1": 0, again: 0 }
    expect(verdictOf({ ...facts, "green-2": 0 }).verdict).toBe("WARNED")
  })
})

test("a trial in which nothing was checked is not PASSED", () => {
  const act = TrialDefinition.parse({ steps: [{ id: "act", role: "act", argv: ["x"], cwd: "/" }] })
  const facts = new Map([["act", factsOf(exit(0), { marker: null })]])
  expect(judgeTrial(act, facts, null).verdict).toBe("WARNED")
  expect(judgeTrial(act, new Map([["act", factsOf(exit(1))]]), null).verdict).toBe("FAILED")
})

describe("whatever the steps have come to", () => {
  const outcome = fc.oneof(
    fc.integer({ min: 0, max: 255 }).map(exit),
    fc.constantFrom(0, 1).map(exit),
    fc.constantFrom(...noOwnExit),
  )
  const marker = fc.constantFrom("seen", "seen", "none", "other-exit", null)
  const fact = fc.tuple(outcome, marker).map(([one, seen]) => factsOf(one, { marker: seen }))
  const anyFacts = fc.dictionary(
    fc.constantFrom(...steps.map(({ id }) => id)),
    fc.oneof(fact, fc.constant(null)),
  )

  test("PASSED means: its red failed by itself, the rest exited with 0", () => {
    fc.assert(
      fc.property(anyFacts, (changed) => {
        const all: Record<string, StepFacts | null> = { ...asItShouldBe, ...changed }
        const isPassed = judged(changed).verdict === "PASSED"
        const isRight = steps.every(({ id, role }) => {
          if (role === "probe") return true
          const one = all[id]
          if (one?.outcome?.kind !== "exited") return false
          if (role !== "act" && one.marker !== "seen") return false
          const code = one.outcome.exitCode
          return role === "red" ? code >= 1 && code <= 125 : code === 0
        })
        expect(isPassed).toBe(isRight)
      }),
      { numRuns: 2000 },
    )
  })

  test("every step is judged, in order, and there is a reason", () => {
    fc.assert(
      fc.property(anyFacts, (changed) => {
        const told = judged(changed)
        expect(told.steps.map(({ id }) => id)).toEqual(steps.map(({ id }) => id))
        expect(told.steps.every(({ reason }) => reason !== "")).toBe(true)
        expect(told.reasons.length).toBeGreaterThan(0)
      }),
    )
  })
})

test("the roles that this test knows are all there are", () => {
  expect(new Set(steps.map(({ role }) => role))).toEqual(new Set(StepRole.options))
})
