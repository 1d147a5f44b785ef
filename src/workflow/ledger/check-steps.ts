import { z } from "zod"
import { Receipt } from "../../execution/receipt.ts"
import { ExecutionSpec } from "../../execution/spec.ts"
import { TrialPart, type TrialStep } from "../../execution/trial/announcement.ts"
import type { AttestedStep, AttestedTrial } from "../../execution/trial/attestation.ts"
import { canonicalText } from "../../lib/canonical-text.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { LineFault } from "./damage.ts"
import { openEnvelope, type PublicKeys } from "./envelope.ts"

/** What of a receipt a verdict rests on. */
const StepReceipt = Receipt.pick({
  version: true,
  execution_id: true,
  outcome: true,
  redacted: true,
  agent: true,
}).extend({
  spec: ExecutionSpec.pick({ command: true, argv: true, cwd: true }).extend({
    agent: z.unknown().optional(), // there for a session, whatever became of it
  }),
  trial: TrialPart,
})
export type StepReceipt = z.infer<typeof StepReceipt>

/** By the signature and the payload: a red that is used again stands in many lines. */
export type KnownReceipts = Map<string, StepReceipt>

/**
 * The receipts by the ids of their steps, or what is wrong with a step: it was announced otherwise,
 * or its receipt is of something else.
 */
export function checkSteps(
  trial: AttestedTrial,
  keys: PublicKeys,
  known: KnownReceipts,
): Result<Map<string, StepReceipt>, LineFault> {
  const announced = trial.announcement.definition.steps
  if (announced.length !== trial.steps.length) {
    return fail({ kind: "verdict", reason: "its steps are not those that were announced" })
  }
  const receipts = new Map<string, StepReceipt>()
  for (const [index, step] of trial.steps.entries()) {
    const plan = announced[index]
    if (plan === undefined || !isAnnounced(step, plan)) {
      const reason = `the step ${step.id} is not what was announced`
      return fail({ kind: "verdict", reason })
    }
    // Without one nothing was seen, which the verdict must say.
    if (step.receipt === null) continue
    const read = readReceipt(step.receipt, keys, known)
    const wrong = read.ok ? receiptFault(trial, step, plan, read.value) : read.failure
    if (wrong !== null) {
      const reason = `the receipt of ${step.role} ${step.id}: ${wrong}`
      return fail({ kind: "receipt", reason })
    }
    if (read.ok) receipts.set(step.id, read.value)
  }
  return ok(receipts)
}

function isAnnounced(step: AttestedStep, plan: TrialStep): boolean {
  if (step.id !== plan.id || step.role !== plan.role) return false
  if (plan.role === "act") return step.run === undefined && !step.reused
  const reuses = plan.role === "red" ? plan.reuses : undefined
  const isSameRed = plan.role !== "red" || step.red === plan.red
  const isSameUse = step.reused === (reuses !== undefined && step.execution_id !== null)
  const isSameRun = !step.reused || step.execution_id === reuses
  return step.run === plan.run && isSameRed && isSameUse && isSameRun
}

function readReceipt(
  envelope: NonNullable<AttestedStep["receipt"]>,
  keys: PublicKeys,
  known: KnownReceipts,
): Result<StepReceipt, string> {
  const signed = `${envelope.signatures[0]?.sig} ${envelope.payload}`
  const earlier = known.get(signed)
  if (earlier !== undefined) return ok(earlier)
  const opened = openEnvelope(envelope, keys)
  if (!opened.ok) return fail(opened.failure.reason)
  const receipt = StepReceipt.safeParse(tryParseJson(opened.value))
  if (!receipt.success) return fail("it is not that of a step of a trial")
  if (receipt.data.trial.role === "red") known.set(signed, receipt.data)
  return ok(receipt.data)
}

function receiptFault(
  trial: AttestedTrial,
  step: AttestedStep,
  plan: TrialStep,
  receipt: StepReceipt,
): string | null {
  if (receipt.execution_id !== step.execution_id) {
    return `it is of ${receipt.execution_id}, not of ${step.execution_id ?? "nothing that ran"}`
  }
  const { trial: part } = receipt
  const isOwn = part.id === trial.announcement.trial && part.step === step.id
  if (!(step.reused || isOwn) || part.role !== step.role) {
    return `it is of the ${part.role} ${part.step} of trial ${part.id}`
  }
  const session = sessionFault(step, receipt)
  // What redaction took out of a command line cannot be compared.
  if (session !== null || (receipt.redacted?.spec ?? 0) > 0) return session
  if (receipt.spec.cwd !== plan.cwd && !step.reused) return `it ran in ${receipt.spec.cwd}`
  return ranWhatWasAnnounced(receipt, plan) ? null : "it ran something else than was announced"
}

function ranWhatWasAnnounced({ spec }: StepReceipt, plan: TrialStep): boolean {
  if (plan.role !== "act") return spec.argv.at(-1) === plan.run
  if (plan.session !== undefined) return spec.agent !== undefined
  if (plan.command !== undefined) return spec.command === plan.command
  return canonicalText(spec.argv) === canonicalText(plan.argv)
}

function sessionFault({ session, role }: AttestedStep, { agent }: StepReceipt): string | null {
  if (role !== "act" || (session === null && !agent)) return null
  // A host that died before its first word has told nothing: then all of it is zero.
  const isSame =
    session !== null &&
    (agent?.turns.ended ?? 0) === session.turns &&
    (agent?.usage.cost_usd ?? 0) === session.cost_usd &&
    (agent?.end?.cause ?? null) === session.end
  return isSame ? null : "it says something else of the agent's session"
}
