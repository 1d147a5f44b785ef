import { describe, expect, test } from "bun:test"
import {
  announcedStep,
  type StepRequest,
  type TakenSteps,
} from "../../../src/execution/trial/announced-step.ts"
import { TrialDefinition } from "../../../src/execution/trial/announcement.ts"

const cwd = "/project"
const prompt = "a".repeat(64)
const { steps } = TrialDefinition.parse({
  tree: "f".repeat(40),
  steps: [
    { id: "set", role: "setup", cwd, run: "npm ci", optional: true },
    { id: "one", role: "red", red: "base", cwd, run: "test -e one" },
    { id: "two", role: "red", red: "base", cwd, run: "test -e two", reuses: "b".repeat(26) },
    { id: "act", role: "act", cwd, session: { agent: "claude", prompt, model: "big" } },
    { id: "see", role: "probe", cwd, run: "ls" },
    { id: "g1", role: "green", cwd, run: "test -e one" },
    { id: "g2", role: "green", cwd, run: "test -e two" },
  ],
})

const session = {
  agent: "claude",
  prompt,
  model: "big",
  permission_mode: undefined,
  args: [],
  resumes: false,
}

function ask(request: Partial<StepRequest>, taken: TakenSteps = new Map()): string {
  const whole: StepRequest = {
    step: undefined,
    role: undefined,
    command: undefined,
    argv: undefined,
    cwd: undefined,
    session: null,
    besides: [],
    ...request,
  }
  const found = announcedStep({ steps }, taken, whole)
  return found.ok ? found.value.id : found.failure
}

/** With the second red, which is used again, from the beginning. */
function ended(...ids: string[]): TakenSteps {
  return new Map(["two", ...ids].map((id) => [id, "ended"]))
}

describe("a step that is asked for by its role", () => {
  test("is the only one that waits", () => {
    expect(ask({ role: "red" }, ended())).toBe("one")
    expect(ask({ role: "green" }, ended("one", "act", "g1"))).toBe("g2")
  })

  test("is said to be several, or none", () => {
    expect(ask({ role: "green" }, ended("one", "act"))).toContain("several steps")
    expect(ask({ role: "red" }, ended("one"))).toContain("each runs only once")
    expect(ask({ role: "guard" }, ended())).toBe("no step with the role guard was announced")
  })
})

describe("the order of steps", () => {
  test("lets optional ones, probes and reds that are used again be left out", () => {
    expect(ask({ step: "one" }, ended())).toBe("one")
    expect(ask({ step: "g1" }, ended("one", "act"))).toBe("g1")
  })

  test("holds for all others, and for those that were left out", () => {
    expect(ask({ step: "act", session }, ended())).toBe(
      'red "one" comes first, and has not run yet',
    )
    expect(ask({ step: "set" }, ended("one"))).toBe(
      'setup "set" comes before red "one", which has run',
    )
    const running: TakenSteps = new Map([...ended(), ["one", "running"]])
    expect(ask({ step: "act", session }, running)).toContain("has not ended yet")
  })
})

describe("an agent's session that acts", () => {
  test("is the one that was announced", () => {
    expect(ask({ role: "act", session }, ended("one"))).toBe("act")
  })

  test.each([
    ["another prompt", { prompt: "c".repeat(64) }],
    ["no prompt", { prompt: null }],
    ["another model", { model: undefined }],
    ["another mode", { permission_mode: "plan" }],
    ["further arguments", { args: ["--append-system-prompt", "pass"] }],
    ["an earlier session", { resumes: true }],
  ])("is not %s", (_, other) => {
    const asked = { role: "act", session: { ...session, ...other } } as const
    expect(ask(asked, ended("one"))).toBe(
      'act "act" was announced with another session of an agent',
    )
  })

  test("is no command, and a check is no session", () => {
    expect(ask({ role: "act" }, ended("one"))).toContain("another session")
    expect(ask({ role: "red", session }, ended())).toContain("was announced with the check")
  })
})
