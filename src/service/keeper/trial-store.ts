import type { ExecutionId } from "../../execution/id.ts"
import type { SignedReceipt } from "../../execution/receipt.ts"
import type {
  Digest,
  TrialId,
  TrialVerdict,
  TrialWork,
} from "../../execution/trial/announcement.ts"
import type { SignedAttestation, Statement } from "../../execution/trial/attestation.ts"
import type { RecordedTrial } from "../../execution/trial/recorded-trial.ts"
import type { IdempotencyEntry } from "./ports.ts"

/** What trials need of the journal, and of the key. */

/** Where a chain of announcements ends. */
export type ChainPlace = { chain: Digest; sequence: number; digest: Digest }

/** A step that was started, or whose earlier execution is used again. */
export type StoredStep = {
  step: string
  executionId: ExecutionId
  marker: string | null
}

export interface TrialStore {
  /** The announcement, before anything of it is started. */
  begin(trial: Omit<RecordedTrial, "ended">, key: Omit<IdempotencyEntry, "principal"> | null): void
  find(id: TrialId): RecordedTrial | null
  findByKey(principal: string, key: string): { fingerprint: string; trial: RecordedTrial } | null
  /** The last announcement of a principal's chain. */
  head(principal: string, chain: Digest): ChainPlace | null
  /** The same of the latest chain for a file. */
  headAt(principal: string, work: Pick<TrialWork, "path" | "name" | "kind">): ChainPlace | null
  /** Before the step's execution is created. */
  setMarker(id: TrialId, step: string, marker: string): void
  steps(id: TrialId): StoredStep[]
  /** Of which trial an execution was a step, at first. */
  trialOf(id: ExecutionId): TrialId | null
  /** Whether an execution is a step of a trial that has not ended. */
  isNeeded(id: ExecutionId): boolean
  receipt(id: ExecutionId): SignedReceipt | null
  end(id: TrialId, verdict: TrialVerdict, envelope: SignedAttestation): void
  open(): RecordedTrial[]
}

export interface AttestationSigner {
  readonly keyId: string
  sign(statement: Statement): SignedAttestation
}
