import type { ExecutionId } from "../../src/execution/id.ts"
import type { SignedReceipt } from "../../src/execution/receipt.ts"
import { type ExecutionRecord, hasEnded } from "../../src/execution/record.ts"
import type { JournalReader, ListPage } from "../../src/gateway/ports.ts"

/** A journal, as its readers see it, that a test writes. */
export class RecordBook implements JournalReader {
  readonly records = new Map<ExecutionId, ExecutionRecord>()
  readonly receipts = new Map<ExecutionId, SignedReceipt>()
  readonly expired = new Set<ExecutionId>()

  write(...records: ExecutionRecord[]): void {
    for (const record of records) this.records.set(record.id, record)
  }

  find(id: ExecutionId): ExecutionRecord | null {
    return this.records.get(id) ?? null
  }

  withPrefix(prefix: string, limit: number): ExecutionId[] {
    const all = [...this.records.keys()].toSorted()
    return all.filter((id) => id.startsWith(prefix)).slice(0, limit)
  }

  list(filter: Parameters<JournalReader["list"]>[0]): ListPage | null {
    if (filter.cursor !== undefined) return null
    return { records: [...this.records.values()], cursor: null }
  }

  receipt(id: ExecutionId): SignedReceipt | null {
    return this.receipts.get(id) ?? null
  }

  keepsTranscript(id: ExecutionId): boolean {
    return !this.expired.has(id)
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
