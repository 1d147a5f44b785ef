import type { AttestedStep, AttestedTrial } from "../../execution/trial/attestation.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { WorkCheck, WorkSettings } from "../documents/front-matter.ts"
import { checksOf } from "../plan/definition.ts"

/**
 * What a failure is as a recovery test: what failed, seen to fail again where the work is missing.
 * Null where the same is one already.
 */
export function recoveryOf(trial: AttestedTrial, settings: WorkSettings): WorkCheck | null {
  const failed = trial.steps.find(({ finding }) => finding === "failed")
  const [first] = settings.checks
  if (failed === undefined || first === undefined) return null
  const test = withoutOrigin(testOf(failed, settings) ?? first)
  const isThere = settings.recovery.some((one) => isSame(withoutOrigin(one), test))
  if (isThere) return null
  return { ...test, run: withOrigin(test.run, trial.announcement.sequence, failed) }
}

/** Null where what failed is no test that could be repeated: the act, or what it has changed. */
function testOf({ id, role, run }: AttestedStep, settings: WorkSettings): WorkCheck | null {
  if (role === "green") {
    const check = checksOf(settings).find(({ name }) => id === `green-${name}`)
    return check === undefined ? null : { run: check.run, red: check.red, spoil: check.spoil }
  }
  const [first] = settings.checks
  if (run === undefined || first === undefined || !settings.guards.includes(run)) return null
  // A guard passes before the work, too: with the check behind it, it does not.
  return { ...first, run: `${run}\n${first.run}` }
}

function isSame(one: WorkCheck, other: WorkCheck): boolean {
  return one.run === other.run && one.red === other.red && one.spoil === other.spoil
}

const mostWords = 100

/** Says in a comment where a test comes from: behind a command of one line, before others. */
function withOrigin(run: string, sequence: number, { role, reason }: AttestedStep): string {
  const words = onOneLine(`trial ${sequence}: ${role}: ${reason}`).slice(0, mostWords)
  const comment = `# ${words}`
  return isPlainLine(run) ? `${run}  ${comment}` : `${comment}\n${run}`
}

function isPlainLine(run: string): boolean {
  return !/[\n\\#]/.test(run) && !run.includes("<<")
}

function withoutOrigin({ run, ...rest }: WorkCheck): WorkCheck {
  const plain = run.replace(/^# trial \d+: [^\n]*\n/, "").replace(/ {2}# trial \d+: [^\n]*$/, "")
  return { ...rest, run: plain }
}
