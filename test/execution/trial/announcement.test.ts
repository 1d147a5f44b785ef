import { describe, expect, test } from "bun:test"
import { TrialDefinition, TrialWork } from "../../../src/execution/trial/announcement.ts"

const green = { id: "green", role: "green", run: "make test", cwd: "/w" }
const red = { id: "red", role: "red", red: "base", run: "make test", cwd: "/base" }
const act = { id: "act", role: "act", argv: ["./work"], cwd: "/w" }

function isAnnounceable(steps: unknown[], more: object = {}): boolean {
  return TrialDefinition.safeParse({ steps, ...more }).success
}

describe("what can be announced", () => {
  test("is a red, an act and a green", () => {
    expect(isAnnounceable([red, act, green])).toBe(true)
  })

  test("is an act as a program, a command line or a session: one of them", () => {
    const { argv, ...noAct } = act
    const session = { agent: "claude", prompt: "a".repeat(64) }
    expect(isAnnounceable([{ ...noAct, command: "make" }])).toBe(true)
    expect(isAnnounceable([{ ...noAct, session }])).toBe(true)
    expect(isAnnounceable([noAct])).toBe(false)
    expect(isAnnounceable([{ ...noAct, argv, session }])).toBe(false)
  })

  test("is an earlier red of the same files", () => {
    const reused = { ...red, reuses: "a".repeat(26) }
    expect(isAnnounceable([reused, green], { tree: "b".repeat(40) })).toBe(true)
    expect(isAnnounceable([reused, green])).toBe(false)
  })
})

describe("what cannot be announced", () => {
  test.each([
    ["no step", []],
    ["two steps of one id", [red, { ...green, id: "red" }]],
    ["a green before the act", [red, green, act]],
    ["a check without a text", [{ ...green, run: "" }]],
    ["a text that no command can have", [{ ...green, run: "a\0b" }]],
    ["a text whose bytes are not its own", [{ ...green, run: "\ud800" }]],
    ["a directory that depends on where one stands", [{ ...green, cwd: "w" }]],
    ["a red without its place", [{ ...red, red: undefined }]],
    ["a role that there is not", [{ ...green, role: "blue" }]],
  ])("%s", (_, steps) => {
    expect(isAnnounceable(steps)).toBe(false)
  })

  test("a work whose file is nowhere", () => {
    const work = { name: "T01", kind: "prompt", path: "/w/T01.md" }
    expect(TrialWork.safeParse(work).success).toBe(true)
    expect(TrialWork.safeParse({ ...work, path: "T01.md" }).success).toBe(false)
    expect(TrialWork.safeParse({ ...work, kind: "A b" }).success).toBe(false)
  })
})
