import { exitOf, type Outcome, type StopCause } from "../state.ts"
import type { CheckStep, TrialDefinition, TrialStep, TrialVerdict } from "./announcement.ts"
import type { Finding, JudgedStep, Judgement, StepFacts } from "./attestation.ts"

/**
 * The verdict on a trial, derived from what is known of its steps and from nothing else. `lost`
 * says why it came to no end of its own, and is null where it did.
 */
export function judgeTrial(
  { steps }: Pick<TrialDefinition, "steps">,
  facts: ReadonlyMap<string, StepFacts>,
  lost: string | null,
): Judgement {
  const taken = steps.map((step) => ({ step, was: resultOf(step, facts.get(step.id)) }))
  const context: Context = {
    seenToFail: new Set(taken.flatMap(({ step, was }) => (isTrueRed(step, was) ? [step.run] : []))),
    hasReds: steps.some(({ role }) => role === "red"),
    firstAct: steps.findIndex(({ role }) => role === "act"),
    hasActed: taken.some(({ step, was }) => step.role === "act" && was.kind !== "not-run"),
    hasStopped: false,
  }
  const judged = taken.map(({ step, was }, index): JudgedStep => {
    const { finding, reason } = judgeStep(step, was, index, context)
    context.hasStopped ||= step.role !== "probe" && finding !== "right" && finding !== "not-run"
    const { id, role } = step
    return { id, role, finding, reason, exit: exitCodeOf(facts.get(id)?.outcome ?? null) }
  })
  return { ...verdictOf(judged, lost), steps: judged }
}

/** What became of one step, before it is asked what that means for its role. */
type Result =
  | { kind: "passed" }
  /** By itself: its own exit says so. */
  | { kind: "failed"; how: string }
  | { kind: "broken"; why: string }
  | { kind: "not-run" }

type Context = {
  /** The checks that have failed where they had to. */
  seenToFail: ReadonlySet<string>
  hasReds: boolean
  /** Negative without one. */
  firstAct: number
  hasActed: boolean
  /** Whether an earlier step is a reason to run no further ones. */
  hasStopped: boolean
}

type Judged = { finding: Finding; reason: string }

function resultOf(step: TrialStep, facts: StepFacts | undefined): Result {
  if (facts === undefined) return { kind: "not-run" }
  return step.role === "act" ? actResult(facts) : checkResult(facts)
}

function isTrueRed(step: TrialStep, was: Result): step is CheckStep & { role: "red" } {
  return step.role === "red" && was.kind === "failed"
}

/** Shells say so that a program is missing or cannot be executed; above are signals. */
const lastOwnExit = 125

function checkResult({ outcome, marker }: StepFacts): Result {
  if (outcome?.kind !== "exited") return broken(howItEnded(outcome))
  const { exitCode } = outcome
  if (marker === "other-exit") {
    return broken(`its transcript shows another end than exit ${exitCode}`)
  }
  if (marker !== "seen") return broken("the end of the check does not stand in its transcript")
  if (exitCode === 0) return { kind: "passed" }
  if (exitCode <= lastOwnExit) return { kind: "failed", how: `exit ${exitCode}` }
  return broken(`exit ${exitCode}: ${meaningOf(exitCode)}`)
}

function meaningOf(exitCode: number): string {
  if (exitCode === 126) return "something in it could not be executed"
  if (exitCode === 127) return "a command in it was not found"
  return "something in it was ended by a signal"
}

/** What stopped it was not its own doing, nor that of who wrote it. */
const notItsDoing: ReadonlySet<StopCause> = new Set(["disk-full", "shutdown", "usage-limit"])

function actResult({ outcome, session }: StepFacts): Result {
  if (outcome === null || outcome.kind === "failed-to-start" || outcome.kind === "lost") {
    return broken(howItEnded(outcome))
  }
  if (outcome.kind === "stopped") {
    const how = howItEnded(outcome)
    return notItsDoing.has(outcome.cause) ? broken(how) : { kind: "failed", how }
  }
  if (outcome.kind === "signaled" || outcome.exitCode !== 0) {
    return { kind: "failed", how: howItEnded(outcome) }
  }
  if (session === null || session.last_turn === "success") return { kind: "passed" }
  const last = session.last_turn ?? "none"
  return { kind: "failed", how: `the outcome of the session's last turn is ${last}` }
}

function broken(why: string): Result {
  return { kind: "broken", why }
}

function howItEnded(outcome: Outcome | null): string {
  if (outcome === null) return "it had not ended"
  switch (outcome.kind) {
    case "exited":
      return `exit ${outcome.exitCode}`
    case "signaled":
      return `it was ended by ${outcome.signal}`
    case "stopped":
      return `it was stopped: ${outcome.cause}`
    case "failed-to-start":
      return `it could not be started: ${outcome.message}`
    case "lost":
      return `its end is not known: ${outcome.reason}`
  }
}

function exitCodeOf(outcome: Outcome | null): number | null {
  const exit = outcome === null ? null : exitOf(outcome)
  return exit?.kind === "exited" ? exit.exitCode : null
}

function judgeStep(step: TrialStep, was: Result, index: number, context: Context): Judged {
  if (was.kind === "not-run") return judgeMissing(step, context)
  if (was.kind === "broken") return { finding: "broken", reason: was.why }
  switch (step.role) {
    case "needs":
      return precondition(was, "it is reachable", `${nameOf(step)} is not reachable`)
    case "setup":
      return precondition(was, "it is set up", "the setup failed")
    case "spoil":
      return precondition(was, "it is spoiled", "the spoiling failed")
    case "red":
      return judgeRed(was)
    case "act":
      return judgeAct(was, context)
    case "green":
      return judgeGreen(was, context.seenToFail.has(step.run))
    case "guard":
      return judgeGuard(was, index < context.firstAct, context)
    case "probe":
      return { finding: "right", reason: `${told(was)}, which decides nothing` }
  }
}

type Ended = Extract<Result, { kind: "passed" | "failed" }>

function told(was: Ended): string {
  return was.kind === "passed" ? "exit 0" : was.how
}

function nameOf(step: CheckStep): string {
  return step.check ?? "what it needs"
}

/** A step may be left out because of what came before it; else that it is missing counts. */
function judgeMissing({ role, optional }: TrialStep, context: Context): Judged {
  if (optional === true || role === "probe" || context.hasStopped) {
    return { finding: "not-run", reason: "it was not run" }
  }
  if (!context.hasActed) return { finding: "broken", reason: "it was announced, but never run" }
  // Whoever has seen what the act did must not choose whether it counts.
  const reason = "it was announced, but never run, although the act had begun"
  return { finding: "failed", reason }
}

function precondition(was: Ended, right: string, wrong: string): Judged {
  if (was.kind === "passed") return { finding: "right", reason: right }
  return { finding: "broken", reason: `${wrong}: ${was.how}` }
}

function judgeRed(was: Ended): Judged {
  if (was.kind === "failed")
    return { finding: "right", reason: `it fails where it must: ${was.how}` }
  return { finding: "warned", reason: "it passes where it must fail: it was never seen to fail" }
}

function judgeAct(was: Ended, { seenToFail, hasReds }: Context): Judged {
  if (was.kind === "passed") return { finding: "right", reason: "it succeeded" }
  if (hasReds && seenToFail.size === 0) {
    const reason = `it failed, but no check was seen to fail before it: ${was.how}`
    return { finding: "warned", reason }
  }
  return { finding: "failed", reason: `it failed: ${was.how}` }
}

function judgeGreen(was: Ended, wasSeenToFail: boolean): Judged {
  if (!wasSeenToFail) {
    const reason = `${told(was)}, but this check was never seen to fail where it must`
    return { finding: "warned", reason }
  }
  if (was.kind === "passed") return { finding: "right", reason: "it passes, and was seen to fail" }
  return { finding: "failed", reason: `it still fails: ${was.how}` }
}

function judgeGuard(was: Ended, isBefore: boolean, { seenToFail, hasReds }: Context): Judged {
  if (was.kind === "passed") return { finding: "right", reason: "it passes" }
  if (isBefore) return { finding: "broken", reason: `it failed before the act: ${was.how}` }
  if (hasReds && seenToFail.size === 0) {
    const reason = `it failed, but no check was seen to fail before the act: ${was.how}`
    return { finding: "warned", reason }
  }
  return { finding: "failed", reason: `it failed: ${was.how}` }
}

function verdictOf(
  steps: readonly JudgedStep[],
  lost: string | null,
): { verdict: TrialVerdict; reasons: string[] } {
  const deciding = steps.filter(({ role }) => role !== "probe")
  const said = (finding: Finding) =>
    deciding
      .filter((step) => step.finding === finding)
      .map(({ id, role, reason }) => `${role} ${id}: ${reason}`)
  const [failed, wrong, warned] = [said("failed"), said("broken"), said("warned")]
  if (lost !== null) return { verdict: "LOST", reasons: [lost, ...failed] }
  if (failed.length > 0) return { verdict: "FAILED", reasons: failed }
  if (wrong.length > 0) return { verdict: "BROKEN", reasons: wrong }
  if (warned.length > 0) return { verdict: "WARNED", reasons: warned }
  const isChecked = steps.some(({ role, finding }) => role === "green" && finding === "right")
  if (!isChecked) return { verdict: "WARNED", reasons: ["no check passed: nothing was verified"] }
  return { verdict: "PASSED", reasons: ["every check failed where it must, and passes now"] }
}
