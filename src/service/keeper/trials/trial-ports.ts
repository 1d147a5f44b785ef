import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { TrialId, TrialVerdict } from "../../../execution/trial/announcement.ts"
import type { LiveTable } from "../live-table.ts"
import type { Clock, Journal, Redaction } from "../ports.ts"
import type { Supervision } from "../supervision/supervision.ts"
import type { AttestationSigner, TrialStore } from "../trial-store.ts"

export type TrialPorts = {
  store: TrialStore
  journal: Pick<Journal, "find" | "sync">
  live: () => Pick<LiveTable, "all" | "find">
  /** Ends a step of a trial that nobody runs any more. */
  cancel: (supervision: Supervision) => Promise<unknown>
  clock: Clock
  redaction: Redaction | null
  signer: AttestationSigner
  processes: Processes
  newId: () => ExecutionId
  /** Letters and digits that nobody can guess. */
  newSecret: () => string
  /** The end of what an execution wrote to standard output. */
  tail: (record: ExecutionRecord, bytes: number) => string
  withReserve(write: () => void): boolean
  withoutReserve(write: () => void): boolean
  judged(trial: JudgedTrial): void
}

export type JudgedTrial = {
  trial: TrialId
  principal: string
  sequence: number
  work: string
  verdict: TrialVerdict
  reasons: readonly string[]
}

/** What the machine tells of processes. */
export interface Processes {
  isAlive(pid: number): boolean
  /** Null where that cannot be seen. */
  holdsSocket(pid: number, inode: number): boolean | null
}
