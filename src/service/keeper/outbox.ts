import type { AttemptReport, NewDelivery } from "../../execution/delivery.ts"
import type { TargetName } from "../../execution/notify-target.ts"
import type { ExecutionRecord } from "../../execution/record.ts"
import type { TrialVerdict } from "../../execution/trial/announcement.ts"
import type { RecordedTrial } from "../../execution/trial/recorded-trial.ts"

/** Says what is to be told of a change; asked while the change is written. */
export interface NoticeSource {
  /** False where nobody is told of anything: then nothing is asked. */
  readonly isActive: boolean
  /** `before` is what the journal has; it is looked up for sessions of agents only. */
  ofChange(before: ExecutionRecord | null, record: ExecutionRecord): NewDelivery[]
  /** `records` are those of the steps that were started. */
  ofVerdict(
    trial: RecordedTrial,
    verdict: TrialVerdict,
    records: () => ExecutionRecord[],
  ): NewDelivery[]
  /** What is to be delivered was written, up to this one. */
  written(ordinal: number): void
}

/** Messages that nobody tries to deliver any more, by their target. */
export type GivenUp = Record<"expired" | "displaced", ReadonlyMap<TargetName, number>>

export type OutboxBounds = {
  createdBefore: Date // those that still wait expire
  settledBefore: Date // those that are settled are forgotten
  mostPending: number // for each target; the oldest are given up
}

/** What waits to be delivered, and what was, as the one who writes it has it. */
export interface Outbox {
  add(delivery: NewDelivery): void
  /** Of the last one that was written; 0 where there is none. */
  lastOrdinal(): number
  /** What has become of attempts; one that is settled already stays as it is. */
  report(reports: readonly AttemptReport[]): void
  /** Keeps it within its bounds. */
  tidy(bounds: OutboxBounds): GivenUp
  pending(): ReadonlyMap<string, number>
  /** Whether something waits, and the last one was written after that. */
  isFresh(since: Date): boolean
}
