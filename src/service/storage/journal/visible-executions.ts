import type { Database } from "bun:sqlite"
import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import { type ExecutionRecord, type Owned, shareLabels } from "../../../execution/record.ts"
import type { ListPage, Looks, Viewer } from "../../gateway/ports.ts"
import { preparing } from "./connection.ts"
import { hasAllLabels, parseRecordRow, recordColumns, recordTables } from "./stored-record.ts"

/** So far things are counted where only the smaller number matters. */
export const mostCounted = 1000

/** Labels of every name that begins with `share`: few beside them, and those are sorted out. */
const sharing = `label >= '["${shareLabels.see}' AND label < '["sharf'`

export const sharesOf = `(
      SELECT json_group_array(json(label)) FROM labels WHERE execution = e.ordinal AND ${sharing})`

export const visibleSql = {
  /** Each in order along an index; the union is merged, not sorted. */
  ordinals: `
    SELECT ordinal FROM executions WHERE principal = $principal AND ordinal < $before
    UNION SELECT execution FROM shares WHERE guest = $principal AND execution < $before
    UNION SELECT execution FROM shares WHERE guest = '*' AND execution < $before
    ORDER BY 1 DESC LIMIT $limit`,
  live: `
    SELECT ordinal FROM executions WHERE ended_at_ms IS NULL AND ordinal < $before
    ORDER BY ordinal DESC LIMIT $limit`,
  labelled: `
    SELECT execution AS ordinal FROM labels WHERE label = $label AND execution < $before
    ORDER BY execution DESC LIMIT $limit`,
  // The limits keep the question cheaper than a wrong answer to it.
  count: `
    SELECT (SELECT count(*) FROM (
        SELECT 1 FROM executions WHERE principal = ?1 LIMIT ${mostCounted}))
      + (SELECT count(*) FROM (
        SELECT 1 FROM shares WHERE guest IN (?1, '*') LIMIT ${mostCounted})) AS count`,
  /** Nothing for one that is not asked for. */
  fitting: `
    SELECT id, principal, ${sharesOf} AS shares FROM executions AS e
    WHERE ordinal = $ordinal AND ($state IS NULL OR state = $state)
      AND ${hasAllLabels("e.ordinal")}`,
  record: `
    SELECT ${recordColumns} FROM ${recordTables} WHERE e.ordinal = ?1`,
  owned: `
    SELECT id, principal, ${sharesOf} AS shares FROM executions AS e WHERE id = ?`,
  withPrefix: `
    SELECT id, principal, ${sharesOf} AS shares FROM executions AS e
    WHERE id >= ?1 AND id < ?2 AND (principal = ?3 OR EXISTS (
      SELECT 1 FROM shares WHERE guest IN (?3, '*') AND execution = e.ordinal))
    ORDER BY id LIMIT ?4`,
} as const

const OrdinalRow = z.object({ ordinal: z.int() })
const OwnedRow = z.object({ id: ExecutionId, principal: z.string(), shares: z.string() })
const Shares = z.array(z.tuple([z.string(), z.string()]))

export type CountedLabel = { label: string; count: number }

type Wanted = {
  before: number
  limit: number
  state: string | null
  /** A JSON list of them. */
  labels: string
  /** Of the labels, null without any. */
  rarest: CountedLabel | null
}
type Fitting = Pick<Wanted, "state" | "labels"> & { ordinal: number }
type Stretch = { before: number; limit: number }
type Ordinals = (stretch: Stretch) => unknown[]

const ordinalsAtOnce = 128
/** Candidates for a beginning of an id: more of them than these are too many to choose from. */
const mostCandidates = 64

/** What one principal may see: its own executions, and those that others share with it. */
export class VisibleExecutions {
  readonly #path: string
  readonly #prepare: () => VisibleStatements
  #prepared: VisibleStatements | null = null

  constructor(database: Database, path: string, owner: DisposableStack) {
    this.#path = path
    this.#prepare = () => prepareVisibleStatements(database, owner)
  }

  // Not before somebody asks: the journal of an earlier program, read beside no service, has no
  // table of shares.
  get #statements(): VisibleStatements {
    this.#prepared ??= this.#prepare()
    return this.#prepared
  }

  owned(id: ExecutionId): Owned | null {
    const row = this.#statements.owned.get(id)
    return row === null ? null : ownedOf(row).owned
  }

  withPrefix(prefix: string, end: string, limit: number, viewer: Viewer): ExecutionId[] {
    const rows = this.#statements.withPrefix.all(prefix, end, viewer.principal, mostCandidates)
    const candidates = rows.map(ownedOf).filter(({ owned }) => viewer.maySee(owned))
    return candidates.slice(0, limit).map(({ id }) => id)
  }

  /** Newest first, from before an ordinal on; shorter where it would take too many looks. */
  page(viewer: Viewer, wanted: Wanted, looks: Looks): ListPage {
    const records: ExecutionRecord[] = []
    const ordinals = this.#ordinalsFor(viewer, wanted)
    let { before } = wanted
    while (looks.left > 0) {
      const limit = Math.min(ordinalsAtOnce, looks.left)
      const rows = ordinals({ before, limit })
      for (const row of rows) {
        before = OrdinalRow.parse(row).ordinal
        looks.left -= 1
        if (!this.#isWanted(before, viewer, wanted)) continue
        // One more than asked for: another page follows, and begins with it.
        if (records.length === wanted.limit) return { records, cursor: String(before + 1) }
        const record = this.#recordAt(before)
        if (record !== null) records.push(record)
      }
      if (rows.length < limit) return { records, cursor: null }
    }
    return { records, cursor: String(before) }
  }

  /** Along the index that passes by the fewest executions not asked for. */
  #ordinalsFor({ principal }: Viewer, { state, rarest }: Wanted): Ordinals {
    if (isLive(state)) return (stretch) => this.#statements.live.all(stretch)
    if (rarest !== null && rarest.count <= this.#countOf(principal)) {
      return (stretch) => this.#statements.labelled.all({ ...stretch, label: rarest.label })
    }
    return (stretch) => this.#statements.ordinals.all({ ...stretch, principal })
  }

  #countOf(principal: string): number {
    return z.object({ count: z.int() }).parse(this.#statements.count.get(principal)).count
  }

  /** Decided without the record, which is much to read and to parse. */
  #isWanted(ordinal: number, viewer: Viewer, { state, labels }: Wanted): boolean {
    const row = this.#statements.fitting.get({ ordinal, state, labels })
    return row !== null && viewer.maySee(ownedOf(row).owned)
  }

  #recordAt(ordinal: number): ExecutionRecord | null {
    const row = this.#statements.record.get(ordinal)
    return row === null ? null : parseRecordRow(row, this.#path).record
  }
}

type VisibleStatements = ReturnType<typeof prepareVisibleStatements>

function prepareVisibleStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  return {
    ordinals: prepare<[Stretch & { principal: string }]>(visibleSql.ordinals),
    live: prepare<[Stretch]>(visibleSql.live),
    labelled: prepare<[Stretch & { label: string }]>(visibleSql.labelled),
    count: prepare<[string]>(visibleSql.count),
    fitting: prepare<[Fitting]>(visibleSql.fitting),
    record: prepare<[number]>(visibleSql.record),
    owned: prepare<[string]>(visibleSql.owned),
    withPrefix: prepare<[string, string, string, number]>(visibleSql.withPrefix),
  }
}

/** Few, however many executions there have been. */
export function isLive(state: string | null): boolean {
  return state !== null && state !== "ended"
}

export function ownedOf(row: unknown): { id: ExecutionId; owned: Owned } {
  const { id, principal, shares } = OwnedRow.parse(row)
  return { id, owned: { principal, labels: Object.fromEntries(Shares.parse(JSON.parse(shares))) } }
}
