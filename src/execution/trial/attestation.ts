import { z } from "zod"
import { TurnOutcome } from "../agent.ts"
import { ExecutionId } from "../id.ts"
import { SignedReceipt } from "../receipt.ts"
import { Outcome } from "../state.ts"
import { Announcement, Digest, RedPlace, StepId, StepRole, TrialVerdict } from "./announcement.ts"

/** What the service signs about a trial: a test result in the form of in-toto, and ours inside. */

export const attestationType = "application/vnd.in-toto+json"
const statementType = "https://in-toto.io/Statement/v1"
const predicateType = "https://in-toto.io/attestation/test-result/v0.1"

/** How the session of an agent that acted came to its end. */
const SessionEnd = z.object({
  last_turn: TurnOutcome.nullable(),
  turns: z.int(),
  cost_usd: z.number(),
  end: z.string().nullable().describe("why the session ended"),
})
export type SessionEnd = z.infer<typeof SessionEnd>

/** What is known of a step that was taken. Only receipt and transcript of its execution say it. */
export const StepFacts = z.object({
  execution_id: ExecutionId,
  reused: z.boolean().describe("it ran in an earlier trial of the chain"),
  outcome: Outcome.nullable().describe("null while it runs"),
  marker: z
    .enum(["seen", "none", "other-exit"])
    .nullable()
    .describe(
      "whether the end of the check stands in the transcript, with the exit of the receipt; null " +
        "for an act, which has none",
    ),
  session: SessionEnd.nullable().describe("of an act that was an agent's session"),
})
export type StepFacts = z.infer<typeof StepFacts>

export const Finding = z
  .enum(["right", "failed", "warned", "broken", "not-run"])
  .describe("what a step adds to the verdict")
export type Finding = z.infer<typeof Finding>

export const JudgedStep = z.object({
  id: StepId,
  role: StepRole,
  finding: Finding,
  reason: z.string().describe("in words"),
  exit: z.int().nullable().describe("of the check or the act; null where it did not exit"),
})
export type JudgedStep = z.infer<typeof JudgedStep>

export const Judgement = z.object({
  verdict: TrialVerdict,
  reasons: z.array(z.string()).min(1),
  steps: z.array(JudgedStep),
})
export type Judgement = z.infer<typeof Judgement>

/** One step, and all that it is judged by. */
const AttestedStep = JudgedStep.extend({
  run: z.string().optional().describe("the check"),
  red: RedPlace.optional(),
  execution_id: ExecutionId.nullable(),
  reused: z.boolean(),
  marker: z.string().nullable().describe("what was printed before and after the check"),
  marker_found: StepFacts.shape.marker,
  session: SessionEnd.nullable(),
  receipt: SignedReceipt.nullable().describe("of its execution, whole"),
})
export type AttestedStep = z.infer<typeof AttestedStep>

/** What is ours in the predicate. */
export const AttestedTrial = z.object({
  v: z.literal(1),
  verdict: TrialVerdict,
  reasons: z.array(z.string()),
  chain: Digest.describe("digest of the chain's first announcement"),
  announcement: Announcement,
  announcement_digest: Digest,
  steps: z.array(AttestedStep),
  judged_at: z.iso.datetime(),
  same_user: z
    .boolean()
    .describe("a step ran as the service's own user, and could have read the signing key"),
  keyid: z.string(),
})
export type AttestedTrial = z.infer<typeof AttestedTrial>

/** All but the receipts: they are most of it, and only who verifies needs them. */
export const TrialOutline = AttestedTrial.extend({
  steps: z.array(AttestedStep.omit({ receipt: true })),
})
export type TrialOutline = z.infer<typeof TrialOutline>
export type StepOutline = TrialOutline["steps"][number]

const ResourceDescriptor = z.object({
  name: z.string(),
  digest: z.object({ sha256: Digest }),
  mediaType: z.string().optional(),
  content: z.string().optional().describe("base64"),
})

const TestResult = z.object({
  result: z.enum(["PASSED", "WARNED", "FAILED"]),
  configuration: z.array(ResourceDescriptor).describe("the texts of the checks"),
  passedTests: z.array(StepId),
  warnedTests: z.array(StepId),
  failedTests: z.array(StepId),
  trial: AttestedTrial,
})

export const Statement = z.object({
  _type: z.literal(statementType),
  subject: z.tuple([z.object({ name: z.string(), digest: z.object({ sha256: Digest }) })]),
  predicateType: z.literal(predicateType),
  predicate: TestResult,
})
export type Statement = z.infer<typeof Statement>

/** A DSSE envelope, as a line of a ledger holds it. */
export const SignedAttestation = z.object({
  payloadType: z.literal(attestationType),
  payload: z.string().describe("the statement's JSON in base64"),
  signatures: z
    .array(z.object({ keyid: z.string(), sig: z.string().describe("Ed25519, base64") }))
    .min(1),
})
export type SignedAttestation = z.infer<typeof SignedAttestation>

/** `NAME`, or `NAME#ITEM`. */
function subjectName({ name, item }: Announcement["work"]): string {
  return item === undefined ? name : `${name}#${item}`
}

const results = {
  PASSED: "PASSED",
  WARNED: "WARNED",
  BROKEN: "WARNED",
  FAILED: "FAILED",
  LOST: "FAILED",
} as const

/** `contents` are the texts of the checks in base64, by step. */
export function statementOf(
  trial: AttestedTrial,
  contents: readonly z.infer<typeof ResourceDescriptor>[],
): Statement {
  const { announcement, verdict, steps } = trial
  const found = (...findings: Finding[]) =>
    steps.filter(({ finding }) => findings.includes(finding)).map(({ id }) => id)
  return {
    _type: statementType,
    subject: [{ name: subjectName(announcement.work), digest: { sha256: announcement.version } }],
    predicateType,
    predicate: {
      result: results[verdict],
      configuration: [...contents],
      passedTests: found("right"),
      warnedTests: found("warned", "broken"),
      failedTests: found("failed"),
      trial,
    },
  }
}
