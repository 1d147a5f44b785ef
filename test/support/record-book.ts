import type { ExecutionId } from "../../src/execution/id.ts"
import type { NamedExecution } from "../../src/execution/identify.ts"
import { nameOf } from "../../src/execution/name.ts"
import type { SignedReceipt } from "../../src/execution/receipt.ts"
import { type ExecutionRecord, hasEnded, type Owned } from "../../src/execution/record.ts"
import type { JournalReader, ListPage, Viewer } from "../../src/service/gateway/ports.ts"

const emptyOutbox: JournalReader["outbox"] = {
  due: () => [],
  nextDueAt: () => null,
  pendingDelivery: () => null,
  deliveries: () => [],
  pendingByTarget: () => new Map(),
}

/** A journal, as its readers see it, that a test writes. */
export class RecordBook implements JournalReader {
  readonly records = new Map<ExecutionId, ExecutionRecord>()
  readonly receipts = new Map<ExecutionId, SignedReceipt>()
  readonly expired = new Set<ExecutionId>()
  readonly outbox = emptyOutbox

  write(...records: ExecutionRecord[]): void {
    for (const record of records) this.records.set(record.id, record)
  }

  find(id: ExecutionId): ExecutionRecord | null {
    return this.records.get(id) ?? null
  }

  owned(id: ExecutionId): Owned | null {
    const record = this.find(id)
    return record && { principal: record.principal, labels: record.spec.labels }
  }

  withPrefix(prefix: string, limit: number, viewer: Viewer | null = null): ExecutionId[] {
    const all = this.#seenBy(viewer).map(({ id }) => id)
    return all
      .toSorted()
      .filter((id) => id.startsWith(prefix))
      .slice(0, limit)
  }

  withName(
    name: string,
    _principal: string | null,
    viewer: Viewer | null = null,
  ): NamedExecution[] {
    const named = this.#seenBy(viewer).filter(({ spec }) => nameOf(spec.labels) === name)
    const all = named.map((record) => ({ ...record, isLive: !hasEnded(record) }))
    const endedFirst = all.toSorted((one, other) => Number(one.isLive) - Number(other.isLive))
    const meant = new Map(endedFirst.map((one) => [one.principal, one]))
    return [...meant.values()].map(({ id, principal, isLive }) => ({ id, principal, isLive }))
  }

  list(
    filter: Parameters<JournalReader["list"]>[0],
    viewer: Viewer | null = null,
  ): ListPage | null {
    if (filter.cursor !== undefined) return null
    return { records: this.#seenBy(viewer), cursor: null }
  }

  #seenBy(viewer: Viewer | null): ExecutionRecord[] {
    const all = [...this.records.values()]
    if (viewer === null) return all
    return all.filter(({ principal, spec }) => viewer.maySee({ principal, labels: spec.labels }))
  }

  receipt(id: ExecutionId): SignedReceipt | null {
    return this.receipts.get(id) ?? null
  }

  keepsTranscript(id: ExecutionId): boolean {
    return !this.expired.has(id)
  }

  openRestarts(): ExecutionRecord[] {
    return []
  }

  hasOpenTrials(): boolean {
    return false
  }

  trial(): null {
    return null
  }

  trialChain(): null {
    return null
  }

  trials(): [] {
    return []
  }

  countLive(): ReturnType<JournalReader["countLive"]> {
    const counts: ReturnType<JournalReader["countLive"]> = {}
    for (const record of this.records.values()) {
      const { kind } = record.state
      if (!hasEnded(record)) counts[kind] = (counts[kind] ?? 0) + 1
    }
    return counts
  }
}
