import type { ExecutionId } from "../../src/execution/id.ts"
import type { SignedReceipt } from "../../src/execution/receipt.ts"
import { type ExecutionRecord, hasEnded } from "../../src/execution/record.ts"
import type { ExecutionEvent } from "../../src/execution/state.ts"
import type { IdempotencyEntry, Journal } from "../../src/service/keeper/ports.ts"

/** A journal that lives as long as a test. */
export class MemoryJournal implements Journal {
  readonly records = new Map<ExecutionId, ExecutionRecord>()
  readonly receipts = new Map<ExecutionId, SignedReceipt>()
  readonly events: Array<{ id: ExecutionId; kind: ExecutionEvent["kind"] }> = []
  readonly withoutTranscript = new Set<ExecutionId>()
  readonly expired: Array<Parameters<Journal["expire"]>[0]> = []
  readonly #keys = new Map<string, { fingerprint: string; id: ExecutionId }>()

  create(
    record: ExecutionRecord,
    idempotency: IdempotencyEntry | null,
    goesOnWith: ExecutionRecord | null = null,
  ): void {
    this.records.set(record.id, record)
    if (goesOnWith !== null) {
      const restart = { kind: "restarted", as: record.id } as const
      this.records.set(goesOnWith.id, { ...goesOnWith, restart })
    }
    if (idempotency === null) return
    const { fingerprint } = idempotency
    this.#keys.set(nameOf(idempotency), { fingerprint, id: record.id })
  }

  append(event: ExecutionEvent, record: ExecutionRecord): void {
    this.events.push({ id: record.id, kind: event.kind })
    this.records.set(record.id, record)
  }

  update(record: ExecutionRecord): void {
    this.records.set(record.id, record)
  }

  end(events: readonly ExecutionEvent[], record: ExecutionRecord, receipt: SignedReceipt): void {
    for (const event of events) this.append(event, record)
    this.receipts.set(record.id, receipt)
  }

  find(id: ExecutionId): ExecutionRecord | null {
    return this.records.get(id) ?? null
  }

  findByKey(principal: string, key: string) {
    const entry = this.#keys.get(nameOf({ principal, key }))
    if (entry === undefined) return null
    return { fingerprint: entry.fingerprint, record: this.find(entry.id) }
  }

  unfinished(): ExecutionRecord[] {
    return [...this.records.values()].filter((record) => !hasEnded(record))
  }

  endedWithTranscript(): Array<{ id: ExecutionId; endedAt: string; bytes: number }> {
    return [...this.records.values()]
      .flatMap(({ id, endedAt, transcript }) =>
        endedAt === null || this.withoutTranscript.has(id)
          ? []
          : [{ id, endedAt, bytes: transcript.end.sequence }],
      )
      .toSorted((a, b) => a.endedAt.localeCompare(b.endedAt))
  }

  endedByPrincipal(): Array<{ id: ExecutionId; principal: string; bytes: number }> {
    return this.endedWithTranscript().map(({ id, bytes }) => {
      return { id, principal: this.find(id)?.principal ?? "", bytes }
    })
  }

  transcriptRemoved(id: ExecutionId): void {
    this.withoutTranscript.add(id)
  }

  remove(id: ExecutionId): void {
    this.records.delete(id)
  }

  withdraw(
    id: ExecutionId,
    idempotency: IdempotencyEntry | null,
    goesOnWith: ExecutionRecord | null = null,
  ): void {
    this.records.delete(id)
    if (goesOnWith !== null) this.records.set(goesOnWith.id, goesOnWith)
    if (idempotency !== null) this.#keys.delete(nameOf(idempotency))
  }

  async sync(): Promise<void> {}

  expire(before: Parameters<Journal["expire"]>[0]): number {
    this.expired.push(before)
    return 0
  }
}

function nameOf({ principal, key }: { principal: string; key: string }): string {
  return JSON.stringify([principal, key])
}
