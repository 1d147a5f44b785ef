import { describe, expect, test } from "bun:test"
import type { SuiteTest } from "../../../src/workflow/suite/suite.ts"
import { judgeTest, type TestEnd } from "../../../src/workflow/suite/test-result.ts"

const pattern = { kind: "text", text: "42" } as const

function suiteTest(more: Partial<SuiteTest> = {}): SuiteTest {
  return {
    id: "t",
    name: "t",
    category: "c",
    act: { kind: "command", command: "x" },
    patterns: [],
    timeoutSeconds: null,
    stallSeconds: null,
    mustFail: false,
    ...more,
  }
}

const request = { kind: "request", request: "Say it.", template: null, tags: "" } as const

function judged(more: Partial<TestEnd>, of: Partial<SuiteTest> = {}) {
  const { outcome, reasons } = judgeTest(suiteTest(of), {
    executionId: "e",
    end: { kind: "exited", exitCode: 0 },
    isTimeout: false,
    isCanceled: false,
    durationMs: 1,
    digest: null,
    turn: null,
    missing: new Set(),
    droppedBytes: 0,
    tail: "",
    ...more,
  })
  return [outcome, ...reasons]
}

const exit = (exitCode: number) => ({ end: { kind: "exited", exitCode } as const })
const stopped = { end: { kind: "other", how: "it was stopped" } as const }

describe("a test of a suite", () => {
  test("passes with its exit and all of its patterns", () => {
    expect(judged({})).toEqual(["passed"])
    expect(judged({}, { patterns: [pattern] })).toEqual(["passed"])
    expect(judged(exit(3))).toEqual(["failed", "exit 3"])
    expect(judged({ missing: new Set([pattern]) }, { patterns: [pattern] })).toEqual([
      "failed",
      'the pattern "42" stands nowhere in what it wrote',
    ])
  })

  test("that is meant to fail must do so by itself, and in time", () => {
    const mustFail = { mustFail: true }

    expect(judged(exit(1), mustFail)).toEqual(["passed"])
    expect(judged(exit(0), mustFail)).toEqual(["failed", "exit 0, but it is meant to fail"])
    expect(judged(stopped, mustFail)).toEqual(["failed", "it was stopped"])
    expect(judged({ ...stopped, isTimeout: true }, mustFail)).toEqual([
      "timed-out",
      "it was stopped",
    ])
    expect(judged(exit(1), { act: request, mustFail: true })).toEqual(["passed"])
  })

  test("is unproven where it was a request, and nothing was looked for", () => {
    expect(judged({}, { act: request })[0]).toBe("unproven")
    expect(judged(exit(1), { act: request })).toEqual(["failed", "exit 1"])
    expect(judged({}, { act: request, patterns: [pattern] })).toEqual(["passed"])
  })

  test("fails with the turn of its session, whatever was found", () => {
    const turn = "the outcome of the session's last turn is error"

    expect(judged({ turn }, { act: request, patterns: [pattern] })).toEqual(["failed", turn])
  })

  test("that somebody has stopped says nothing", () => {
    expect(judged({ ...stopped, isCanceled: true })[0]).toBe("unfinished")
  })

  test("says how much of its output could not be searched", () => {
    const missing = new Set([pattern])

    expect(judged({ missing, droppedBytes: 7 }, { patterns: [pattern] })[1]).toEndWith(
      "stands nowhere in what it wrote; 7 bytes of it are no longer kept",
    )
  })
})
