import type { ExecutionId } from "../id.ts"
import type { Announcement, Digest, TrialVerdict } from "./announcement.ts"
import type { SignedAttestation } from "./attestation.ts"

/** A trial as the journal has it. */
export type RecordedTrial = {
  announcement: Announcement
  /** Digest of the chain's first announcement. */
  chain: Digest
  digest: Digest
  leaseMs: number
  /** The execution that runs it, where that is one: while it is paused, no lease ends. */
  runner: ExecutionId | null
  /** Null while it is open. */
  ended: { verdict: TrialVerdict; envelope: SignedAttestation } | null
}
