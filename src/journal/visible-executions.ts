import type { Database, Statement } from "bun:sqlite"
import { z } from "zod"
import { ExecutionId } from "../execution/id.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { type Owned, shareLabels } from "../execution/sharing.ts"
import type { ListPage, Viewer } from "../gateway/ports.ts"
import { parseRecordRow, recordColumns, recordTables } from "./stored-record.ts"

/** Labels of every name that begins with `share`: few beside them, and those are sorted out. */
const sharing = `label >= '["${shareLabels.see}' AND label < '["sharf'`

export const visibleSql = {
  /** In order along two indexes; the union is merged, not sorted. */
  ordinals: `
    SELECT ordinal FROM executions WHERE principal = ?1 AND ordinal < ?2
    UNION SELECT execution FROM labels WHERE ${sharing} AND execution < ?2
    ORDER BY 1 DESC LIMIT ?3`,
  record: `
    SELECT ${recordColumns} FROM ${recordTables} WHERE e.ordinal = ?1`,
  owned: `
    SELECT id, principal, (SELECT json_group_array(json(label)) FROM labels
      WHERE execution = e.ordinal AND ${sharing}) AS shares
    FROM executions AS e WHERE id = ?`,
  withPrefix: `
    SELECT id, principal, (SELECT json_group_array(json(label)) FROM labels
      WHERE execution = e.ordinal AND ${sharing}) AS shares
    FROM executions AS e WHERE id >= ?1 AND id < ?2 AND (principal = ?3 OR EXISTS (
      SELECT 1 FROM labels WHERE execution = e.ordinal AND ${sharing})) ORDER BY id LIMIT ?4`,
} as const

const OrdinalRow = z.object({ ordinal: z.int() })
const OwnedRow = z.object({ id: ExecutionId, principal: z.string(), shares: z.string() })
const Shares = z.array(z.tuple([z.string(), z.string()]))

const ordinalsAtOnce = 128
/** A page that would take longer than this is cut short, and goes on at its cursor. */
const mostLookedAt = 2000
/** Candidates for a beginning of an id: more of them than these are too many to choose from. */
const mostCandidates = 64

/** What one principal may see: its own executions, and those that others share with it. */
export class VisibleExecutions {
  readonly #path: string
  readonly #ordinals: Statement<unknown, [string, number, number]>
  readonly #record: Statement<unknown, [number]>
  readonly #owned: Statement<unknown, [string]>
  readonly #withPrefix: Statement<unknown, [string, string, string, number]>

  constructor(database: Database, path: string, owner: DisposableStack) {
    this.#path = path
    this.#ordinals = owner.use(database.prepare(visibleSql.ordinals))
    this.#record = owner.use(database.prepare(visibleSql.record))
    this.#owned = owner.use(database.prepare(visibleSql.owned))
    this.#withPrefix = owner.use(database.prepare(visibleSql.withPrefix))
  }

  owned(id: ExecutionId): Owned | null {
    const row = this.#owned.get(id)
    return row === null ? null : ownedOf(row).owned
  }

  withPrefix(prefix: string, end: string, limit: number, viewer: Viewer): ExecutionId[] {
    const rows = this.#withPrefix.all(prefix, end, viewer.principal, mostCandidates)
    const candidates = rows.map(ownedOf).filter(({ owned }) => viewer.maySee(owned))
    return candidates.slice(0, limit).map(({ id }) => id)
  }

  /** Newest first, from before an ordinal on. */
  page(
    viewer: Viewer,
    wanted: { before: number; limit: number; matches(record: ExecutionRecord): boolean },
  ): ListPage {
    const records: ExecutionRecord[] = []
    let { before } = wanted
    for (let lookedAt = 0; lookedAt < mostLookedAt; lookedAt += ordinalsAtOnce) {
      const rows = this.#ordinals.all(viewer.principal, before, ordinalsAtOnce)
      for (const row of rows) {
        before = OrdinalRow.parse(row).ordinal
        const record = this.#recordAt(before)
        if (record === null || !wanted.matches(record) || !isVisible(viewer, record)) continue
        // One more than asked for: another page follows, and begins with it.
        if (records.length === wanted.limit) return { records, cursor: String(before + 1) }
        records.push(record)
      }
      if (rows.length < ordinalsAtOnce) return { records, cursor: null }
    }
    return { records, cursor: String(before) }
  }

  #recordAt(ordinal: number): ExecutionRecord | null {
    const row = this.#record.get(ordinal)
    return row === null ? null : parseRecordRow(row, this.#path).record
  }
}

function isVisible(viewer: Viewer, { principal, spec }: ExecutionRecord): boolean {
  return viewer.maySee({ principal, labels: spec.labels })
}

function ownedOf(row: unknown): { id: ExecutionId; owned: Owned } {
  const { id, principal, shares } = OwnedRow.parse(row)
  return { id, owned: { principal, labels: Object.fromEntries(Shares.parse(JSON.parse(shares))) } }
}
