import type { Database } from "bun:sqlite"
import { z } from "zod"
import { type AttemptReport, attemptsKept, type NewDelivery } from "../../../execution/delivery.ts"
import { renamedQuestions } from "../../../execution/notice.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { GivenUp, NoticeSource, Outbox, OutboxBounds } from "../../keeper/outbox.ts"
import type { Clock } from "../../keeper/ports.ts"
import { preparing, type WriteTransaction } from "./connection.ts"

// Bounds the log that one transaction makes.
const tidyBatch = 500

const TargetRow = z.object({ target: z.string() })
const LastRow = z.object({ last: z.int() })
const CountRow = TargetRow.extend({ pending: z.int() })

/** The outbox of the journal, as its one writer has it. */
export class SqliteOutbox implements Outbox {
  readonly #write: WriteTransaction
  readonly #clock: Pick<Clock, "now">
  readonly #statements

  constructor(
    database: Database,
    clock: Pick<Clock, "now">,
    write: WriteTransaction,
    owner: DisposableStack,
  ) {
    this.#clock = clock
    this.#write = write
    this.#statements = prepareStatements(database, owner)
  }

  add(delivery: NewDelivery): void {
    this.#write(() => this.#insert([delivery]))
  }

  /** Within the transaction of what they are about. Answers the last one; null for none. */
  addWith(
    source: NoticeSource,
    before: ExecutionRecord | null,
    record: ExecutionRecord,
  ): number | null {
    const asked = renamedQuestions(before?.agent ?? null, record.agent ?? null)
    for (const { from, to } of asked) this.#statements.rename.run(to, record.id, from)
    return this.insert(source.ofChange(before, record))
  }

  /** The same for deliveries that are known already. */
  insert(deliveries: readonly NewDelivery[]): number | null {
    if (deliveries.length === 0) return null
    this.#insert(deliveries)
    return this.lastOrdinal()
  }

  lastOrdinal(): number {
    return LastRow.parse(this.#statements.last.get()).last
  }

  #insert(deliveries: readonly NewDelivery[]): void {
    const nowMs = this.#clock.now().getTime()
    for (const { id, target, notice } of deliveries) {
      const { about, principal, kind, subject, facts } = notice
      const texts = [id, target, about, principal, kind, subject, JSON.stringify(facts)] as const
      this.#statements.insert.run(...texts, nowMs)
    }
  }

  report(reports: readonly AttemptReport[]): void {
    const { again, settle, addAttempt, dropAttempts } = this.#statements
    const nowMs = this.#clock.now().getTime()
    this.#write(() => {
      for (const { delivery, attempt, then } of reports) {
        const { at, took_ms, result, status, why } = attempt
        const row =
          then.kind === "again"
            ? again.get(delivery, Date.parse(then.at))
            : settle.get(delivery, nowMs, then.outcome)
        if (row === null) continue
        const { ordinal, attempts } = AttemptedRow.parse(row)
        addAttempt.run(ordinal, attempts, Date.parse(at), took_ms, result, status, why)
        if (attempts > attemptsKept) dropAttempts.run(ordinal, attempts - attemptsKept)
      }
    })
  }

  tidy({ createdBefore, settledBefore, mostPending }: OutboxBounds): GivenUp {
    const { expire, displace, forget } = this.#statements
    const nowMs = this.#clock.now().getTime()
    const expired = new Map<string, number>()
    this.#inBatches(() => counted(expire.all(nowMs, createdBefore.getTime(), tidyBatch), expired))
    const displaced = new Map<string, number>()
    for (const [target, pending] of this.pending()) {
      for (let over = pending - mostPending; over > 0; over -= tidyBatch) {
        const some = Math.min(over, tidyBatch)
        this.#write(() => counted(displace.all(nowMs, target, some), displaced))
      }
    }
    this.#inBatches(() => forget.all(settledBefore.getTime(), tidyBatch))
    return { expired, displaced }
  }

  pending(): ReadonlyMap<string, number> {
    const rows = this.#statements.pending.all().map((row) => CountRow.parse(row))
    return new Map(rows.map(({ target, pending }) => [target, pending]))
  }

  isFresh(since: Date): boolean {
    return this.#statements.fresh.get(since.getTime()) !== null
  }

  #inBatches(removeSome: () => unknown[]): void {
    while (this.#write(removeSome).length === tidyBatch);
  }
}

function counted(rows: unknown[], counts: Map<string, number>): unknown[] {
  for (const row of rows) {
    const { target } = TargetRow.parse(row)
    counts.set(target, (counts.get(target) ?? 0) + 1)
  }
  return rows
}

const AttemptedRow = z.object({ ordinal: z.int(), attempts: z.int() })

function prepareStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  const settled = "next_at_ms = NULL, settled_at_ms = ?1"
  return {
    insert: prepare<[string, string, string, string, string, string, string, number]>(
      `INSERT OR IGNORE INTO deliveries
         (id, target, about, principal, kind, subject, facts, created_at_ms, next_at_ms)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8)`,
    ),
    last: prepare<[]>("SELECT coalesce(max(ordinal), 0) AS last FROM deliveries"),
    rename: prepare<[string, string, string]>(
      "UPDATE deliveries SET subject = ? WHERE about = ? AND kind = 'question' AND subject = ?",
    ),
    again: prepare<[string, number]>(
      `UPDATE deliveries SET attempts = attempts + 1, next_at_ms = ?2
       WHERE id = ?1 AND next_at_ms IS NOT NULL RETURNING ordinal, attempts`,
    ),
    settle: prepare<[string, number, string]>(
      `UPDATE deliveries
       SET attempts = attempts + 1, next_at_ms = NULL, settled_at_ms = ?2, outcome = ?3
       WHERE id = ?1 AND next_at_ms IS NOT NULL RETURNING ordinal, attempts`,
    ),
    addAttempt: prepare<[number, number, number, number, string, number | null, string | null]>(
      `INSERT INTO delivery_attempts (delivery, number, at_ms, took_ms, result, status, why)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    dropAttempts: prepare<[number, number]>(
      "DELETE FROM delivery_attempts WHERE delivery = ? AND number <= ?",
    ),
    expire: prepare<[number, number, number]>(
      `UPDATE deliveries SET ${settled}, outcome = 'expired' WHERE ordinal IN (
         SELECT ordinal FROM deliveries
         WHERE next_at_ms IS NOT NULL AND created_at_ms < ?2 LIMIT ?3)
       RETURNING target`,
    ),
    displace: prepare<[number, string, number]>(
      `UPDATE deliveries SET ${settled}, outcome = 'displaced' WHERE ordinal IN (
         SELECT ordinal FROM deliveries
         WHERE next_at_ms IS NOT NULL AND target = ?2 ORDER BY ordinal LIMIT ?3)
       RETURNING target`,
    ),
    forget: prepare<[number, number]>(
      `DELETE FROM deliveries WHERE ordinal IN (
         SELECT ordinal FROM deliveries WHERE settled_at_ms < ? LIMIT ?) RETURNING ordinal`,
    ),
    pending: prepare<[]>(
      `SELECT target, count(*) AS pending FROM deliveries
       WHERE next_at_ms IS NOT NULL GROUP BY target`,
    ),
    fresh: prepare<[number]>(
      `SELECT 1 FROM deliveries WHERE next_at_ms IS NOT NULL AND ? < (
         SELECT created_at_ms FROM deliveries ORDER BY ordinal DESC LIMIT 1) LIMIT 1`,
    ),
  }
}
