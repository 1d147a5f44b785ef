import { createHash } from "node:crypto"
import { z } from "zod"
import {
  type AttestedTrial,
  SignedAttestation,
  Statement,
  statementOf,
  TrialOutline,
} from "../../execution/trial/attestation.ts"
import { canonicalText } from "../../lib/canonical-text.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { checkSteps, type KnownReceipts } from "./check-steps.ts"
import type { LineFault } from "./damage.ts"
import { openEnvelope, type PublicKeys } from "./envelope.ts"
import { envelopeIn, lineOf } from "./ledger-text.ts"
import { verdictFault } from "./rejudge.ts"

/** Everything that one line shows by itself. */
export function checkLine(
  text: string,
  keys: PublicKeys,
  known: KnownReceipts,
): Result<TrialOutline, LineFault> {
  const opened = openLine(text, keys)
  if (!opened.ok) return opened
  const statement = Statement.safeParse(opened.value)
  if (!statement.success) return unreadable(issueIn(statement.error))
  const { trial } = statement.data.predicate
  const fault = statementFault(statement.data) ?? announcementFault(trial, opened.value)
  if (fault !== null) return fail(fault)
  const receipts = checkSteps(trial, keys, known)
  if (!receipts.ok) return receipts
  const wrong = verdictFault(trial, receipts.value)
  return wrong === null ? ok(trial) : fail(wrong)
}

const Outlined = z.object({ predicate: z.object({ trial: TrialOutline }) })

/** What a service has signed, without asking whether it follows from the receipts inside. */
export function checkSignature(text: string, keys: PublicKeys): Result<TrialOutline, LineFault> {
  const opened = openLine(text, keys)
  if (!opened.ok) return opened
  const statement = Outlined.safeParse(opened.value)
  return statement.success
    ? ok(statement.data.predicate.trial)
    : unreadable(issueIn(statement.error))
}

function openLine(text: string, keys: PublicKeys): Result<unknown, LineFault> {
  const envelope = writtenEnvelope(text)
  if (!envelope.ok) return envelope
  const opened = openEnvelope(envelope.value, keys)
  return opened.ok ? ok(tryParseJson(opened.value)) : opened
}

/** Not even what the signature does not cover may be changed unseen. */
function writtenEnvelope(text: string): Result<SignedAttestation, LineFault> {
  const quick = envelopeIn(text)
  if (quick !== null) return ok(quick)
  const value = tryParseJson(text)
  if (value === undefined) return unreadable("it is not JSON")
  const envelope = SignedAttestation.safeParse(value)
  if (!envelope.success) return unreadable(issueIn(envelope.error))
  if (lineOf(envelope.data) === text) return ok(envelope.data)
  return refused("signature", "it is not as it was written: something was added or changed")
}

function unreadable(why: string): Result<never, LineFault> {
  return refused("unreadable", `this is no attestation of a trial: ${why}`)
}

function refused(kind: LineFault["kind"], reason: string): Result<never, LineFault> {
  return fail({ kind, reason })
}

function issueIn(error: z.ZodError): string {
  return z.prettifyError(error).split("\n")[0]?.replace(/^✖ /, "") ?? error.message
}

/** All that a statement says besides follows from the trial inside. */
function statementFault(statement: Statement): LineFault | null {
  const { trial, configuration } = statement.predicate
  const derived = [statementOf(trial, configuration), statement].map((one) =>
    canonicalText({ ...one, predicate: { ...one.predicate, trial: null } }),
  )
  if (derived[0] === derived[1]) return textFault(trial, configuration)
  return { kind: "verdict", reason: "its result is not that of the trial inside" }
}

/** What was announced is hashed as it stands: a later version may have added to it. */
const Announced = z.object({
  predicate: z.object({ trial: z.object({ announcement: z.unknown() }) }),
})

function announcementFault(trial: AttestedTrial, payload: unknown): LineFault | null {
  const { announcement, announcement_digest: digest, chain } = trial
  const announced = Announced.parse(payload).predicate.trial.announcement
  if (sha256(canonicalText(announced)) !== digest) {
    return { kind: "chain", reason: "its announcement is not what its digest says" }
  }
  const isFirst = announcement.sequence === 1
  const isPlaced = isFirst
    ? announcement.chain === null && announcement.previous === null && chain === digest
    : announcement.chain === chain && announcement.previous !== null
  if (isPlaced) return null
  return {
    kind: "chain",
    reason: `trial ${announcement.sequence} is not part of the chain it names`,
  }
}

/** The texts of the checks are those that were announced. */
function textFault(
  { announcement }: AttestedTrial,
  configuration: Statement["predicate"]["configuration"],
): LineFault | null {
  const texts = new Map(configuration.map(({ name, digest }) => [name, digest.sha256]))
  for (const step of announcement.definition.steps) {
    if (step.role === "act" || texts.get(step.id) === sha256(step.run)) continue
    return { kind: "verdict", reason: `the check ${step.id} is not the one that was announced` }
  }
  return null
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
