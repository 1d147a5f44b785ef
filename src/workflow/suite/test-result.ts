import type { SuitePattern, SuiteTest } from "./suite.ts"

/**
 * What became of one test. Only `passed` is good: `unproven` has come to its end, but nothing was
 * looked for; `unfinished` was begun, and its own end is not known.
 */
export type TestOutcome = "passed" | "failed" | "timed-out" | "unproven" | "unfinished" | "not-run"

export type TestResult = {
  readonly test: SuiteTest
  readonly outcome: TestOutcome
  readonly reasons: readonly string[]
  /** Whose receipt and transcript show it; null where nothing was started. */
  readonly executionId: string | null
  readonly exitCode: number | null
  readonly durationMs: number
  /** SHA-256 of its output, as its receipt has it. */
  readonly digest: string | null
  readonly missing: readonly SuitePattern[]
  /** The last it wrote, where it did not pass. */
  readonly tail: string
}

/** How the execution of a test came to its end, and what it had written by then. */
export type TestEnd = {
  executionId: string
  end: { kind: "exited"; exitCode: number } | { kind: "other"; how: string }
  isTimeout: boolean
  isCanceled: boolean
  durationMs: number
  digest: string | null
  /** Of an agent's session, why its last turn was no success. */
  turn: string | null
  missing: ReadonlySet<SuitePattern>
  /** Output that is no longer kept, in bytes. */
  droppedBytes: number
  tail: string
}

export function notRun(test: SuiteTest, outcome: "not-run" | "unfinished"): TestResult {
  const reason = outcome === "not-run" ? "it was not run" : "it did not come to its end"
  return { ...nothingKnown, test, outcome, reasons: [reason] }
}

/** It could not be started at all. */
export function notStarted(test: SuiteTest, reason: string): TestResult {
  return { ...nothingKnown, test, outcome: "failed", reasons: [reason] }
}

const nothingKnown = {
  executionId: null,
  exitCode: null,
  durationMs: 0,
  digest: null,
  missing: [],
  tail: "",
} as const

export function judgeTest(test: SuiteTest, ended: TestEnd): TestResult {
  const { outcome, reasons } = judgement(test, ended)
  const { executionId, durationMs, digest, end, missing, tail } = ended
  return {
    test,
    outcome,
    reasons,
    executionId,
    exitCode: end.kind === "exited" ? end.exitCode : null,
    durationMs,
    digest,
    missing: test.patterns.filter((pattern) => missing.has(pattern)),
    tail: outcome === "passed" ? "" : tail,
  }
}

function judgement(test: SuiteTest, ended: TestEnd): Pick<TestResult, "outcome" | "reasons"> {
  const { end, isTimeout, isCanceled, turn } = ended
  if (isCanceled) return { outcome: "unfinished", reasons: ["it was stopped before its end"] }
  const reasons = [
    ...endFault(test, end),
    ...(turn === null ? [] : [turn]),
    ...missingPatterns(test, ended),
  ]
  if (isTimeout) return { outcome: "timed-out", reasons }
  if (reasons.length > 0) return { outcome: "failed", reasons }
  if (test.act.kind === "command" || test.patterns.length > 0 || test.mustFail) {
    return { outcome: "passed", reasons: [] }
  }
  const reason = "nothing was looked for in its output: give it `expected_patterns`"
  return { outcome: "unproven", reasons: [reason] }
}

function endFault({ mustFail }: SuiteTest, end: TestEnd["end"]): string[] {
  if (end.kind !== "exited") return [end.how]
  if (mustFail) return end.exitCode === 0 ? ["exit 0, but it is meant to fail"] : []
  return end.exitCode === 0 ? [] : [`exit ${end.exitCode}`]
}

function missingPatterns({ patterns }: SuiteTest, { missing, droppedBytes }: TestEnd): string[] {
  const dropped = droppedBytes === 0 ? "" : `; ${droppedBytes} bytes of it are no longer kept`
  return patterns
    .filter((pattern) => missing.has(pattern))
    .map((pattern) => `${missingText(pattern)}${dropped}`)
}

function missingText(pattern: SuitePattern): string {
  if (pattern.kind === "executed") return `${quoted(pattern)} is in no output of a tool that ran`
  return `${patternText(pattern)} stands nowhere in what it wrote`
}

export function patternText(pattern: SuitePattern): string {
  switch (pattern.kind) {
    case "text":
      return `the pattern ${quoted(pattern)}`
    case "regex":
      return `a line that matches /${pattern.text}/`
    case "executed":
      return `${quoted(pattern)}, written by a tool`
  }
}

function quoted({ text }: SuitePattern): string {
  return JSON.stringify(text)
}
