import { type Receipt, Receipt as ReceiptSchema } from "../../execution/receipt.ts"
import { TrialPart, type TrialStep } from "../../execution/trial/announcement.ts"
import type { AttestedStep, AttestedTrial } from "../../execution/trial/attestation.ts"
import { canonicalText } from "../../lib/canonical-text.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { LineFault } from "./damage.ts"
import { openEnvelope, type PublicKeys } from "./envelope.ts"

const TrialReceipt = ReceiptSchema.extend({ trial: TrialPart })
type TrialReceipt = Receipt & { trial: TrialPart }

/** What is wrong with a step: it was announced otherwise, or its receipt is of something else. */
export function stepFault(trial: AttestedTrial, keys: PublicKeys): LineFault | null {
  const announced = trial.announcement.definition.steps
  if (announced.length !== trial.steps.length) {
    return { kind: "verdict", reason: "its steps are not those that were announced" }
  }
  for (const [index, step] of trial.steps.entries()) {
    const plan = announced[index]
    if (plan === undefined || !isAnnounced(step, plan)) {
      return { kind: "verdict", reason: `the step ${step.id} is not what was announced` }
    }
    const wrong = receiptFault(trial, step, plan, keys)
    if (wrong !== null) {
      return { kind: "receipt", reason: `the receipt of ${step.role} ${step.id}: ${wrong}` }
    }
  }
  return null
}

function isAnnounced(step: AttestedStep, plan: TrialStep): boolean {
  const isSame = step.id === plan.id && step.role === plan.role
  if (plan.role === "act") return isSame && step.run === undefined && !step.reused
  const reuses = plan.role === "red" ? plan.reuses : undefined
  const isReused = reuses !== undefined
  const isThere = step.reused === isReused && (!isReused || step.execution_id === reuses)
  return (
    isSame && step.run === plan.run && (plan.role !== "red" || step.red === plan.red) && isThere
  )
}

function receiptFault(
  trial: AttestedTrial,
  step: AttestedStep,
  plan: TrialStep,
  keys: PublicKeys,
): string | null {
  if (step.receipt === null) return null // then nothing was seen, which the verdict must say
  if (step.execution_id === null) return "it is there, but nothing was run"
  const read = readReceipt(step.receipt, keys)
  if (!read.ok) return read.failure
  const receipt = read.value
  if (receipt.execution_id !== step.execution_id) {
    return `it is of ${receipt.execution_id}, not of ${step.execution_id}`
  }
  const { trial: part } = receipt
  const isOwn = part.id === trial.announcement.trial && part.step === step.id
  if (!(step.reused || isOwn) || part.role !== step.role) {
    return `it is of the ${part.role} ${part.step} of trial ${part.id}`
  }
  // What redaction took out of a command line cannot be compared.
  if ((receipt.redacted?.spec ?? 0) > 0) return null
  if (receipt.spec.cwd !== plan.cwd && !step.reused) return `it ran in ${receipt.spec.cwd}`
  if (!ranWhatWasAnnounced(receipt, plan)) return "it ran something else than was announced"
  return sessionFault(step, receipt)
}

/** By the very text of its envelope: a red that is used again stands in many lines. */
function readReceipt(
  envelope: NonNullable<AttestedStep["receipt"]>,
  keys: PublicKeys,
): Result<TrialReceipt, string> {
  const opened = openEnvelope(envelope, keys)
  if (!opened.ok) return fail(opened.failure.reason)
  const receipt = TrialReceipt.safeParse(tryParseJson(opened.value))
  return receipt.success ? ok(receipt.data) : fail("it is not that of a step of a trial")
}

function ranWhatWasAnnounced({ spec, agent }: TrialReceipt, plan: TrialStep): boolean {
  if (plan.role !== "act") return spec.argv.at(-1) === plan.run
  if (plan.session !== undefined) return agent !== null && agent !== undefined
  if (plan.command !== undefined) return spec.command === plan.command
  return canonicalText(spec.argv) === canonicalText(plan.argv)
}

function sessionFault({ session, role }: AttestedStep, { agent }: TrialReceipt): string | null {
  if (role !== "act" || (session === null && !agent)) return null
  const isSame =
    session !== null &&
    agent?.turns.ended === session.turns &&
    agent.usage.cost_usd === session.cost_usd &&
    (agent.end?.cause ?? null) === session.end
  return isSame ? null : "it says something else of the agent's session"
}
