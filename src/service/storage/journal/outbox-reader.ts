import type { Database } from "bun:sqlite"
import { z } from "zod"
import { AttemptResult, DeliveryOutcome } from "../../../execution/delivery.ts"
import { ExecutionId } from "../../../execution/id.ts"
import { NoticeFacts, NoticeKind } from "../../../execution/notice.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import type { DeliveryFilter, OutboxReader, PendingDelivery } from "../../gateway/outbox-port.ts"
import { preparing } from "./connection.ts"
import { JournalDamagedError } from "./journal-failure.ts"

const DeliveryRow = z.object({
  ordinal: z.int(),
  id: ExecutionId,
  target: z.string(),
  about: z.string(),
  principal: z.string(),
  kind: NoticeKind,
  subject: z.string(),
  facts: z.string(),
  created_at_ms: z.int(),
  attempts: z.int(),
  next_at_ms: z.int().nullable(),
  settled_at_ms: z.int().nullable(),
  outcome: DeliveryOutcome.nullable(),
})

const AttemptRow = z.object({
  number: z.int(),
  at_ms: z.int(),
  took_ms: z.int(),
  result: AttemptResult,
  status: z.int().nullable(),
  why: z.string().nullable(),
})

const columns = `ordinal, id, target, about, principal, kind, subject, facts, created_at_ms,
  attempts, next_at_ms, settled_at_ms, outcome`

/** The outbox of the journal, for whoever delivers what is in it, or wants to know. */
export class SqliteOutboxReader implements OutboxReader {
  readonly #path: string
  readonly #statements

  constructor(database: Database, path: string, owner: DisposableStack) {
    this.#path = path
    this.#statements = prepareStatements(database, owner)
  }

  due(target: string, upTo: number, now: Date, most: number): PendingDelivery[] {
    const rows = this.#statements.due.all(target, upTo, now.getTime(), most)
    return rows.map((row) => this.#pending(row))
  }

  nextDueAt(target: string, upTo: number): Date | null {
    const row = this.#statements.nextDue.get(target, upTo)
    const { next_at_ms } = z.object({ next_at_ms: z.int().nullable() }).parse(row)
    return next_at_ms === null ? null : new Date(next_at_ms)
  }

  pendingDelivery(id: ExecutionId): PendingDelivery | null {
    const row = this.#statements.find.get(id)
    return row === null ? null : this.#pending(row)
  }

  deliveries({ principal, target, state, about, id, before }: DeliveryFilter, most: number) {
    const rows = this.#statements.list.all(
      before ?? Number.MAX_SAFE_INTEGER,
      principal,
      target ?? null,
      state ?? null,
      about ?? null,
      id ?? null,
      most,
    )
    return rows.map((row) => {
      const found = DeliveryRow.parse(row)
      const { ordinal, kind } = found
      return {
        ordinal,
        view: {
          delivery_id: found.id,
          target: found.target,
          event: kind,
          about: kind === "test" ? null : found.about,
          principal: found.principal,
          state: found.outcome ?? ("pending" as const),
          created_at: timeOf(found.created_at_ms),
          settled_at: found.settled_at_ms === null ? null : timeOf(found.settled_at_ms),
          next_attempt_at: found.next_at_ms === null ? null : timeOf(found.next_at_ms),
          attempt_count: found.attempts,
          attempts: this.#attempts(ordinal),
        },
      }
    })
  }

  pendingByTarget(principal: string | null): ReadonlyMap<string, number> {
    const row = z.object({ target: z.string(), pending: z.int() })
    const rows = this.#statements.pending.all(principal).map((found) => row.parse(found))
    return new Map(rows.map(({ target, pending }) => [target, pending]))
  }

  #attempts(ordinal: number) {
    return this.#statements.attempts.all(ordinal).map((row) => {
      const { at_ms, ...attempt } = AttemptRow.parse(row)
      return { ...attempt, at: timeOf(at_ms) }
    })
  }

  #pending(row: unknown): PendingDelivery {
    const { id, target, kind, about, principal, subject, ...rest } = DeliveryRow.parse(row)
    const facts = NoticeFacts.safeParse(tryParseJson(rest.facts))
    if (!facts.success) {
      const why = z.prettifyError(facts.error).replaceAll("\n", " ")
      throw new JournalDamagedError(`delivery ${id}`, this.#path, why)
    }
    const notice = { kind, about, principal, subject, facts: facts.data }
    const { attempts, created_at_ms } = rest
    return { id, target, notice, createdAt: new Date(created_at_ms), attempts }
  }
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** Nothing about the same that was written earlier still waits for the same target. */
const isFirst = `NOT EXISTS (
  SELECT 1 FROM deliveries AS e
  WHERE e.target = d.target AND e.about = d.about AND e.ordinal < d.ordinal
    AND e.next_at_ms IS NOT NULL)`

function prepareStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  return {
    due: prepare<[string, number, number, number]>(
      `SELECT ${columns} FROM deliveries AS d
       WHERE target = ? AND ordinal <= ? AND next_at_ms <= ? AND next_at_ms IS NOT NULL
         AND ${isFirst}
       ORDER BY ordinal LIMIT ?`,
    ),
    nextDue: prepare<[string, number]>(
      `SELECT min(next_at_ms) AS next_at_ms FROM deliveries AS d
       WHERE target = ? AND ordinal <= ? AND next_at_ms IS NOT NULL AND ${isFirst}`,
    ),
    find: prepare<[string]>(`SELECT ${columns} FROM deliveries WHERE id = ?`),
    list: prepare<
      [number, string | null, string | null, string | null, string | null, string | null, number]
    >(
      `SELECT ${columns} FROM deliveries
       WHERE ordinal < ?1 AND (?2 IS NULL OR principal = ?2) AND (?3 IS NULL OR target = ?3)
         AND (?4 IS NULL OR coalesce(outcome, 'pending') = ?4) AND (?5 IS NULL OR about = ?5)
         AND (?6 IS NULL OR id = ?6)
       ORDER BY ordinal DESC LIMIT ?7`,
    ),
    pending: prepare<[string | null]>(
      `SELECT target, count(*) AS pending FROM deliveries
       WHERE next_at_ms IS NOT NULL AND (?1 IS NULL OR principal = ?1) GROUP BY target`,
    ),
    attempts: prepare<[number]>(
      `SELECT number, at_ms, took_ms, result, status, why FROM delivery_attempts
       WHERE delivery = ? ORDER BY number`,
    ),
  }
}
