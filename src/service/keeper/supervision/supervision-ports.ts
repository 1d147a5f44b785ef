import type { ExecutionRecord } from "../../../execution/record.ts"
import type { ExecutionEvent } from "../../../execution/state.ts"
import type { RuleDecision } from "../../../protocol/agent-host.ts"
import type { Clock, Redaction, Spawner, TranscriptStore } from "../ports.ts"

export type SupervisionSettings = {
  graceMs: number // from SIGTERM to SIGKILL
  killLimitMs: number // from SIGKILL to calling what is left a survivor
  lingerMs: number // what outlives the leader may finish by itself
  disconnectLeaseMs: number
  throttleBytesPerSecond: number
}

export type SupervisionPorts = {
  clock: Clock
  spawner: Pick<Spawner, "spawn" | "adopt">
  transcripts: Pick<TranscriptStore, "create" | "resume">
  /** Null where no patterns are set. */
  redaction: Redaction | null
  /** Writes an event and the record as it is after it. Called before anybody is told. */
  journal(event: ExecutionEvent | null, record: ExecutionRecord): void
  /** Writes the end with its receipt; resolves when it is on disk, however long that takes. */
  journalEnd(events: readonly ExecutionEvent[], record: ExecutionRecord): Promise<void>
  advanced(id: ExecutionRecord["id"], bytes: number): void
  changed(record: ExecutionRecord): void
  /** The bookkeeping of this execution broke; the service goes on. */
  broke(record: ExecutionRecord, error: unknown): void
  /** Its agent's status is another one; its state is the same. */
  agentChanged(record: ExecutionRecord): void
  /** A rule has answered a question of its agent. */
  ruleDecided(record: ExecutionRecord, decision: RuleDecision): void
  /** The host of its agent said something that nobody understands. */
  odd(record: ExecutionRecord, why: string): void
}
