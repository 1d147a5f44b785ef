import type { Database } from "bun:sqlite"
import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import type { NamedExecution } from "../../../execution/identify.ts"
import type { Viewer } from "../../gateway/ports.ts"
import { preparing } from "./connection.ts"
import { labelText } from "./stored-record.ts"
import { ownedOf, sharesOf } from "./visible-executions.ts"

export const namedSql = {
  live: `
    SELECT id, principal, ${sharesOf} AS shares FROM executions AS e
    WHERE ended_at_ms IS NULL
      AND EXISTS (SELECT 1 FROM labels WHERE label = ? AND execution = e.ordinal)
    ORDER BY ordinal DESC`,
  nextOwner: `
    SELECT owner FROM names WHERE guest = ? AND label = ? AND owner > ? ORDER BY owner LIMIT 1`,
  latest: `
    SELECT id, principal, ordinal FROM names CROSS JOIN executions ON ordinal = execution
    WHERE guest = ? AND label = ? AND owner = ? ORDER BY execution DESC LIMIT 1`,
} as const

/** For the journal of an earlier program, which has no table of names. */
const labelledSql = `
  SELECT id, principal, ordinal FROM labels CROSS JOIN executions ON ordinal = execution
  WHERE label = ? ORDER BY execution DESC`

const EndedRow = z.object({ id: ExecutionId, principal: z.string(), ordinal: z.int() })
type Ended = z.infer<typeof EndedRow>
const OwnerRow = z.object({ owner: z.string() })

/** Those who use a name: two are too many to choose from, and these are enough to be told. */
const mostOwners = 8

/** The executions that a name may mean. */
export class NamedExecutions {
  readonly #prepare: () => NamedStatements
  #prepared: NamedStatements | null = null

  constructor(database: Database, owner: DisposableStack) {
    this.#prepare = () => prepareNamedStatements(database, owner)
  }

  // Not before somebody asks: see VisibleExecutions.
  get #statements(): NamedStatements {
    this.#prepared ??= this.#prepare()
    return this.#prepared
  }

  find(name: string, principal: string | null, viewer: Viewer | null): NamedExecution[] {
    const label = labelText("name", name)
    const found = new Map<string, NamedExecution>()
    for (const { id, owned } of this.#statements.live.all(label).map(ownedOf)) {
      const isSeen = viewer === null || viewer.maySee(owned)
      if (!isSeen || found.has(owned.principal)) continue
      found.set(owned.principal, { id, principal: owned.principal, isLive: true })
    }
    const ended = this.#ended(label, principal, viewer)
    for (const { id, principal: owner } of ended.toSorted((a, b) => b.ordinal - a.ordinal)) {
      if (!found.has(owner)) found.set(owner, { id, principal: owner, isLive: false })
    }
    return [...found.values()]
  }

  /** The latest of each owner, or several of them. */
  #ended(label: string, principal: string | null, viewer: Viewer | null): Ended[] {
    const { names } = this.#statements
    if (names === null)
      return this.#statements.labelled.all(label).map((row) => EndedRow.parse(row))
    const own = principal === null ? null : names.latest.get("", label, principal)
    // Whoever may see everything sees every owner's own row.
    const guests = viewer === null ? [""] : [viewer.principal, "*"]
    const others = guests.flatMap((guest) =>
      ownersOf(names, guest, label).map((owner) => names.latest.get(guest, label, owner)),
    )
    return [own, ...others].flatMap((row) => (row === null ? [] : [EndedRow.parse(row)]))
  }
}

/** From one to the next along the index: how many executions each has does not matter. */
function ownersOf({ nextOwner }: NameStatements, guest: string, label: string): string[] {
  const owners: string[] = []
  while (owners.length < mostOwners) {
    const row = nextOwner.get(guest, label, owners.at(-1) ?? "")
    if (row === null) return owners
    owners.push(OwnerRow.parse(row).owner)
  }
  return owners
}

type NamedStatements = ReturnType<typeof prepareNamedStatements>
type NameStatements = NonNullable<NamedStatements["names"]>

function prepareNamedStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  using hasNames = database.prepare<unknown, []>(
    "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'names'",
  )
  return {
    live: prepare<[string]>(namedSql.live),
    labelled: prepare<[string]>(labelledSql),
    names:
      hasNames.get() === null
        ? null
        : {
            nextOwner: prepare<[string, string, string]>(namedSql.nextOwner),
            latest: prepare<[string, string, string]>(namedSql.latest),
          },
  }
}
