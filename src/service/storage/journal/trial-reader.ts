import type { Database } from "bun:sqlite"
import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import { Digest, type TrialId } from "../../../execution/trial/announcement.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import type { TrialChain, TrialSought } from "../../gateway/trial-ports.ts"
import { preparing } from "./connection.ts"
import { parseTrialRow, trialColumns } from "./stored-trial.ts"

const StepRow = z.object({ step: z.string(), execution_id: ExecutionId, has_ended: z.int() })
const ChainRow = z.object({ principal: z.string(), chain: Digest })
const HeadRow = z.object({ sequence: z.int(), digest: Digest })

/** Reads trials beside their writer. */
export class TrialReader {
  readonly #path: string
  readonly #statements

  constructor(database: Database, path: string, owner: DisposableStack) {
    this.#path = path
    this.#statements = prepareStatements(database, owner)
  }

  hasOpen(): boolean {
    return this.#statements.anyOpen.get() !== null
  }

  find(id: TrialId) {
    const row = this.#statements.find.get(id)
    if (row === null) return null
    const rows = this.#statements.steps.all(id).map((step) => StepRow.parse(step))
    const steps = new Map(
      rows.map(({ step, execution_id, has_ended }) => {
        return [step, { executionId: execution_id, hasEnded: has_ended === 1 }]
      }),
    )
    return { ...parseTrialRow(row, this.#path), steps }
  }

  chain(sought: TrialSought, principal: string | null): TrialChain | null {
    const { byChain, byPath } = this.#statements
    const { chain, path, name, kind } = sought
    const row =
      chain === undefined
        ? byPath.get(path ?? null, name ?? null, kind ?? null, principal)
        : byChain.get(chain, principal)
    if (row === null) return null
    const found = ChainRow.parse(row)
    const head = HeadRow.parse(this.#statements.head.get(found.principal, found.chain))
    return { ...found, head }
  }

  /** As many as are asked for, one by one: their envelopes may be large. */
  *page({ principal, chain }: TrialChain, from: number, limit: number): Iterable<RecordedTrial> {
    let next = from
    for (let left = limit; left > 0; left -= 1) {
      const row = this.#statements.nextOf.get(principal, chain, next)
      if (row === null) return
      const trial = parseTrialRow(row, this.#path)
      yield trial
      next = trial.announcement.sequence + 1
    }
  }
}

function prepareStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  return {
    anyOpen: prepare<[]>("SELECT 1 FROM trials WHERE verdict IS NULL LIMIT 1"),
    find: prepare<[string]>(`SELECT ${trialColumns} FROM trials WHERE id = ?`),
    steps: prepare<[string]>(
      `SELECT step, execution_id, NOT EXISTS (
         SELECT 1 FROM executions WHERE id = execution_id AND ended_at_ms IS NULL) AS has_ended
       FROM trial_steps WHERE trial = ? AND execution_id IS NOT NULL`,
    ),
    byChain: prepare<[string, string | null]>(
      `SELECT principal, chain FROM trials
       WHERE chain = ?1 AND (?2 IS NULL OR principal = ?2) ORDER BY ordinal DESC LIMIT 1`,
    ),
    byPath: prepare<[string | null, string | null, string | null, string | null]>(
      `SELECT principal, chain FROM trials
       WHERE path = ?1 AND (?2 IS NULL OR name = ?2) AND (?3 IS NULL OR kind = ?3)
         AND (?4 IS NULL OR principal = ?4)
       ORDER BY ordinal DESC LIMIT 1`,
    ),
    head: prepare<[string, string]>(
      `SELECT sequence, digest FROM trials WHERE principal = ? AND chain = ?
       ORDER BY sequence DESC LIMIT 1`,
    ),
    nextOf: prepare<[string, string, number]>(
      `SELECT ${trialColumns} FROM trials WHERE principal = ? AND chain = ? AND sequence >= ?
       ORDER BY sequence LIMIT 1`,
    ),
  }
}
