import type { Database, Statement } from "bun:sqlite"
import { z } from "zod"
import type { JournalReader, ListPage, Looks, Viewer } from "../../gateway/ports.ts"
import { preparing } from "./connection.ts"
import {
  hasAllLabels,
  labelText,
  parseRecordRow,
  recordColumns,
  recordTables,
} from "./stored-record.ts"
import {
  type CountedLabel,
  isLive,
  mostCounted,
  type VisibleExecutions,
} from "./visible-executions.ts"

/** Each goes along an index that is in the order of the answer: nothing is sorted. */
export const listSql = {
  // Its only state is `ended`, so that it passes by the live ones and nothing else.
  newest: `
    SELECT ${recordColumns} FROM ${recordTables}
    WHERE e.ordinal < $before AND ($state IS NULL OR e.state = $state)
    ORDER BY e.ordinal DESC LIMIT $limit`,
  live: `
    SELECT ${recordColumns} FROM ${recordTables}
    WHERE e.ended_at_ms IS NULL AND e.ordinal < $before AND e.state = $state
      AND ${hasAllLabels("e.ordinal")}
    ORDER BY e.ordinal DESC LIMIT $limit`,
  labelled: `
    SELECT ${recordColumns} FROM labels AS l
    CROSS JOIN executions AS e ON e.ordinal = l.execution
    JOIN specs AS s ON s.execution = e.ordinal
    WHERE l.label = $label AND l.execution < $before AND ${hasAllLabels("l.execution")}
      AND ($state IS NULL OR e.state = $state)
    ORDER BY l.execution DESC LIMIT $limit`,
  // The limit keeps the question cheaper than a wrong answer to it.
  countLabel: `
    SELECT count(*) AS count FROM (SELECT 1 FROM labels WHERE label = ? LIMIT ${mostCounted})`,
} as const

type ListFilter = Parameters<JournalReader["list"]>[0]

type ListBindings = {
  before: number
  state: string | null
  label: string | null
  labels: string
  limit: number
}

/** Newest first, along the index that passes by the fewest executions not asked for. */
export class ListQuery {
  readonly #path: string
  readonly #visible: VisibleExecutions
  readonly #statements

  constructor(
    database: Database,
    path: string,
    visible: VisibleExecutions,
    owner: DisposableStack,
  ) {
    this.#path = path
    this.#visible = visible
    const prepare = preparing(database, owner)
    this.#statements = {
      newest: prepare<[ListBindings]>(listSql.newest),
      live: prepare<[ListBindings]>(listSql.live),
      labelled: prepare<[ListBindings]>(listSql.labelled),
      countLabel: prepare<[string]>(listSql.countLabel),
    }
  }

  page(filter: ListFilter, viewer: Viewer | null, looks: Looks): ListPage | null {
    const before = ordinalOf(filter.cursor)
    if (before === null) return null
    const texts = Object.entries(filter.labels ?? {}).map(([name, value]) => labelText(name, value))
    const state = filter.state ?? null
    const labels = JSON.stringify(texts)
    const rarest = this.#rarest(texts)
    const { limit } = filter
    if (viewer !== null) {
      return this.#visible.page(viewer, { before, state, labels, rarest, limit }, looks)
    }
    const bindings: ListBindings = {
      before,
      state,
      label: rarest?.label ?? null,
      labels,
      limit: limit + 1, // one more tells whether another page follows
    }

    const found = this.#statementFor(bindings)
      .all(bindings)
      .map((row) => parseRecordRow(row, this.#path))
    const shown = found.slice(0, limit)
    return {
      records: shown.map(({ record }) => record),
      cursor: found.length > shown.length ? String(shown.at(-1)?.ordinal) : null,
    }
  }

  #statementFor({ state, label }: ListBindings): Statement<unknown, [ListBindings]> {
    if (isLive(state)) return this.#statements.live
    return label === null ? this.#statements.newest : this.#statements.labelled
  }

  #rarest(labels: readonly string[]): CountedLabel | null {
    const counted = labels.map((label) => ({ label, count: this.#countOf(label) }))
    counted.sort((one, other) => one.count - other.count)
    return counted[0] ?? null
  }

  #countOf(label: string): number {
    return z.object({ count: z.int() }).parse(this.#statements.countLabel.get(label)).count
  }
}

/** Null for a cursor that no list gave out. */
function ordinalOf(cursor: string | undefined): number | null {
  if (cursor === undefined) return Number.MAX_SAFE_INTEGER
  return /^[1-9][0-9]{0,14}$/.test(cursor) ? Number(cursor) : null
}
