import { z } from "zod"
import { ExecutionId } from "../execution/id.ts"
import {
  Announcement,
  Digest,
  StepId,
  StepRole,
  TrialDefinition,
  TrialId,
  TrialVerdict,
  TrialWork,
} from "../execution/trial/announcement.ts"
import { SignedAttestation } from "../execution/trial/attestation.ts"

const Place = z.object({ sequence: z.int().min(1), digest: Digest })

export const TrialBeginParams = z.object({
  work: TrialWork.extend({
    chain: Digest.optional().describe("as its ledger says; without it, the chain is found by path"),
    continues: Place.optional().describe(
      "the last announcement of a chain that was made elsewhere: it goes on here",
    ),
  }),
  version: Digest,
  definition: TrialDefinition,
  lease_ms: z
    .int()
    .min(1000)
    .max(600_000)
    .default(60_000)
    .describe("it is lost when nobody has renewed it for so long"),
  runner: ExecutionId.optional().describe(
    "the execution that runs this trial, one of yours: while it is paused, the lease does not end",
  ),
  idempotency_key: z.string().min(1).max(256).optional().describe("as for `execute`"),
})
export type TrialBeginParams = z.infer<typeof TrialBeginParams>

export const TrialBegun = z.object({
  trial: TrialId,
  chain: Digest,
  sequence: z.int().min(1),
  previous: Digest.nullable(),
  digest: Digest.describe("of its own announcement"),
  lease_ms: z.int().describe("call `trial.renew` more often than this"),
  repeated: z.boolean().optional().describe("the idempotency key found this earlier trial"),
})
export type TrialBegun = z.infer<typeof TrialBegun>

export const TrialEnded = z.object({
  trial: TrialId,
  verdict: TrialVerdict,
  reasons: z.array(z.string()),
  envelope: SignedAttestation,
})
export type TrialEnded = z.infer<typeof TrialEnded>

/** A trial as it was announced, and what became of it; null while it is open. */
const TrialEntry = z.object({
  trial: TrialId,
  chain: Digest,
  digest: Digest.describe("of the announcement"),
  announcement: Announcement,
  verdict: TrialVerdict.nullable(),
  envelope: SignedAttestation.nullable(),
})
export type TrialEntry = z.infer<typeof TrialEntry>

const TrialListParams = z
  .object({
    chain: Digest.optional(),
    path: z.string().min(1).max(4096).optional(),
    name: z.string().min(1).max(256).optional().describe("with `path`"),
    kind: z.string().min(1).max(32).optional().describe("with `path`"),
    from: z.coerce.number().int().min(1).default(1).describe("the first sequence number"),
    limit: z.coerce.number().int().min(1).max(100).default(50),
  })
  .check(
    z.refine(({ chain, path }) => (chain === undefined) !== (path === undefined), {
      message: "use either `chain` or `path`",
    }),
  )
export type TrialListParams = z.infer<typeof TrialListParams>

const TrialList = z.object({
  trials: z.array(TrialEntry).describe("in the order of their numbers"),
  head: Place.nullable().describe("the last announcement of the chain; null without one"),
  next: z.int().optional().describe("`from` of the next page, where there is one"),
})
export type TrialList = z.infer<typeof TrialList>

const TrialStatus = TrialEntry.extend({
  steps: z.array(
    z.object({
      id: StepId,
      role: StepRole,
      execution_id: z.string().nullable(),
      state: z.enum(["waiting", "running", "ended"]),
    }),
  ),
})
export type TrialStatus = z.infer<typeof TrialStatus>

export const TrialRenewed = z.object({ lease_ms: z.int() })
export type TrialRenewed = z.infer<typeof TrialRenewed>

const oneTrial = z.object({ trial: TrialId })

export const trialMethods = {
  "trial.begin": { params: TrialBeginParams, result: TrialBegun },
  "trial.renew": { params: oneTrial, result: TrialRenewed },
  "trial.end": { params: oneTrial, result: TrialEnded },
  "trial.status": { params: oneTrial, result: TrialStatus },
  "trial.list": { params: TrialListParams, result: TrialList },
} as const
