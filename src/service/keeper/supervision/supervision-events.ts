import type { ExecutionRecord } from "../../../execution/record.ts"
import type { ExecutionEvent } from "../../../execution/state.ts"
import type { Log } from "../../../lib/log.ts"
import type { RuleDecision } from "../../../protocol/agent-host.ts"
import type { GatewayUpdates } from "../gateway-link/gateway-updates.ts"
import type { KeeperMetrics } from "../reports/keeper-metrics.ts"
import type { RetryingJournal } from "./retrying-journal.ts"

/** What becomes of an execution's events: journal, metrics, updates to the gateway, the log. */
export function supervisionEvents(options: {
  log: Log
  updates: GatewayUpdates
  retryingJournal: RetryingJournal
  metrics: KeeperMetrics
  /** Its end is in the journal, and nobody was told yet. */
  ended: (record: ExecutionRecord) => void
  ruleDecided: (record: ExecutionRecord, decision: RuleDecision) => void
  reportGarbage: (bytes: number) => void
  bytesPerExecution: number
}) {
  const { log, updates, retryingJournal, metrics, ended, ruleDecided } = options
  const { reportGarbage, bytesPerExecution } = options
  return {
    journal(event: ExecutionEvent | null, record: ExecutionRecord) {
      if (event?.kind === "started") metrics.began(record.id)
      retryingJournal.write(event, record)
    },
    journalEnd: retryingJournal.end,
    advanced(id: ExecutionRecord["id"], bytes: number) {
      updates.advanced(id)
      metrics.advanced(id, bytes)
      reportGarbage(bytes)
    },
    changed(record: ExecutionRecord) {
      metrics.changed(record)
      if (record.state.kind === "ended") ended(record)
      updates.changed(record)
      const facts = { executionId: record.id, pid: record.leader?.pid, state: record.state.kind }
      if (record.state.kind === "ended") {
        reportGarbage(bytesPerExecution)
        const { outcome } = record.state
        const { runningMs: durationMs, survivors } = record
        log.info({ ...facts, outcome, durationMs, survivors }, "execution ended")
      } else if (record.state.kind === "draining") log.debug(facts, "execution changed")
      else log.info(facts, "execution changed")
    },
    broke: (record: ExecutionRecord, error: unknown) =>
      log.error({ executionId: record.id, err: error }, "supervision failed"),
    agentChanged: (record: ExecutionRecord) => updates.changed(record),
    ruleDecided,
    odd: (record: ExecutionRecord, why: string) =>
      log.warn({ executionId: record.id, why }, "an agent's host said something odd"),
  }
}
