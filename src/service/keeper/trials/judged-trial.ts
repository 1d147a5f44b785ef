import { createHash } from "node:crypto"
import { Receipt } from "../../../execution/receipt.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { exitOf, type Outcome } from "../../../execution/state.ts"
import type { TrialStep } from "../../../execution/trial/announcement.ts"
import type { SignedAttestation } from "../../../execution/trial/attestation.ts"
import {
  type AttestedStep,
  type AttestedTrial,
  type SessionEnd,
  Statement,
  type StepFacts,
  statementOf,
} from "../../../execution/trial/attestation.ts"
import { judgedTailBytes, markerFound } from "../../../execution/trial/check-wrapper.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import { judgeTrial } from "../../../execution/trial/verdict.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import type { StoredStep } from "../trial-store.ts"
import type { TrialPorts } from "./trial-ports.ts"

type Ports = Pick<TrialPorts, "store" | "journal" | "clock" | "signer" | "tail">

/** What is known of one step that was taken, and what shows it. */
type TakenStep = { facts: StepFacts } & Pick<AttestedStep, "marker" | "receipt">

/** The verdict, derived from receipts and transcripts alone; `lost` says why there is no end. */
export function judgedStatement(
  { announcement, chain, digest }: RecordedTrial,
  lost: string | null,
  ports: Ports,
): Statement {
  const { steps } = announcement.definition
  const stored = new Map(ports.store.steps(announcement.trial).map((step) => [step.step, step]))
  const taken = new Map<string, TakenStep>()
  for (const step of steps) {
    const found = stored.get(step.id)
    if (found !== undefined) taken.set(step.id, takenStep(step, found, ports))
  }
  const facts = new Map([...taken].map(([id, step]) => [id, step.facts]))
  const judgement = judgeTrial(announcement.definition, facts, lost)
  const attested = judgement.steps.map((judged, index): AttestedStep => {
    const step = steps[index]
    const was = taken.get(judged.id)
    return {
      ...judged,
      ...(step === undefined || step.role === "act" ? {} : { run: step.run }),
      ...(step?.role === "red" ? { red: step.red } : {}),
      execution_id: was?.facts.execution_id ?? null,
      reused: was?.facts.reused ?? false,
      marker: was?.marker ?? null,
      marker_found: was?.facts.marker ?? null,
      session: was?.facts.session ?? null,
      receipt: was?.receipt ?? null,
    }
  })
  const trial: AttestedTrial = {
    v: 1,
    verdict: judgement.verdict,
    reasons: judgement.reasons,
    chain,
    announcement,
    announcement_digest: digest,
    steps: attested,
    judged_at: ports.clock.now().toISOString(),
    same_user: attested.some(({ receipt }) => ranAsService(receipt)),
    keyid: ports.signer.keyId,
  }
  return statementOf(trial, steps.flatMap(checkText))
}

/** What an attestation of ours says. */
export function statementIn({ payload }: SignedAttestation): Statement {
  return Statement.parse(JSON.parse(Buffer.from(payload, "base64").toString("utf8")))
}

function takenStep(step: TrialStep, stored: StoredStep, ports: Ports): TakenStep {
  if (step.role === "red" && step.reuses !== undefined) return reusedRed(stored, ports)
  const { executionId: execution_id, marker } = stored
  const record = ports.journal.find(execution_id)
  const outcome = record?.state.kind === "ended" ? record.state.outcome : null
  const isRead = record !== null && marker !== null && outcome !== null
  const seen = isRead
    ? markerFound(ports.tail(record, judgedTailBytes), marker, exitCodeOf(outcome))
    : "none"
  const facts: StepFacts = {
    execution_id,
    reused: false,
    outcome,
    marker: step.role === "act" ? null : seen,
    session: record === null ? null : sessionEnd(record),
  }
  return { facts, marker, receipt: ports.store.receipt(execution_id) }
}

/** It was judged before: all that is known of it stands in that attestation. */
function reusedRed({ executionId: execution_id }: StoredStep, ports: Ports): TakenStep {
  const before = earlierRed(execution_id, ports)
  const receipt = before?.receipt ?? null
  const facts: StepFacts = {
    execution_id,
    reused: true,
    outcome: receipt === null ? null : (receiptIn(receipt)?.outcome ?? null),
    marker: before?.marker_found ?? "none",
    session: null,
  }
  return { facts, marker: before?.marker ?? null, receipt }
}

/** A red as it was attested when it ran; null where there is none. */
export function earlierRed(
  executionId: string,
  { store }: Pick<Ports, "store">,
): AttestedStep | null {
  const trial = store.trialOf(executionId)
  const ended = trial === null ? null : (store.find(trial)?.ended ?? null)
  if (ended === null) return null
  const { steps } = statementIn(ended.envelope).predicate.trial
  return steps.find((step) => step.execution_id === executionId && !step.reused) ?? null
}

function exitCodeOf(outcome: Outcome): number | null {
  const exit = exitOf(outcome)
  return exit?.kind === "exited" ? exit.exitCode : null
}

function sessionEnd({ spec, agent }: ExecutionRecord): SessionEnd | null {
  if (spec.agent === undefined) return null
  return {
    last_turn: agent?.last_turn?.outcome ?? null,
    turns: agent?.turns.ended ?? 0,
    cost_usd: agent?.usage.cost_usd ?? 0,
    end: agent?.end?.cause ?? null,
  }
}

function receiptIn(envelope: NonNullable<AttestedStep["receipt"]>): Receipt | null {
  const text = Buffer.from(envelope.payload, "base64").toString("utf8")
  return Receipt.safeParse(tryParseJson(text)).data ?? null
}

function ranAsService(receipt: AttestedStep["receipt"]): boolean {
  return receipt !== null && receiptIn(receipt)?.ran_as.same_user_as_service === true
}

function checkText(step: TrialStep) {
  if (step.role === "act") return []
  const bytes = Buffer.from(step.run)
  const sha256 = createHash("sha256").update(bytes).digest("hex")
  const content = bytes.toString("base64")
  return [{ name: step.id, digest: { sha256 }, mediaType: "text/x-shellscript", content }]
}
