import type { Database } from "bun:sqlite"
import assert from "node:assert/strict"
import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import type { SignedReceipt } from "../../../execution/receipt.ts"
import {
  Digest,
  isReused,
  TrialId,
  type TrialVerdict,
  type TrialWork,
} from "../../../execution/trial/announcement.ts"
import type { SignedAttestation } from "../../../execution/trial/attestation.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import { canonicalText } from "../../../lib/canonical-text.ts"
import type { IdempotencyEntry } from "../../keeper/ports.ts"
import type { ChainPlace, StoredStep, TrialStore } from "../../keeper/trial-store.ts"
import { preparing, type WriteTransaction } from "./connection.ts"
import { parseReceiptRow } from "./stored-record.ts"
import { parseTrialRow, trialColumns } from "./stored-trial.ts"

const PlaceRow = z.object({ chain: Digest, sequence: z.int(), digest: Digest })
const StepRow = z.object({
  step: z.string(),
  execution_id: ExecutionId,
  marker: z.string().nullable(),
})

/** What is to be told of a verdict, written in the transaction that writes it. */
type VerdictNotices = {
  /** Answers the last one; null where there is nothing to tell. */
  write(id: TrialId, verdict: TrialVerdict): number | null
  written(ordinal: number): void
}

/** The trials of the journal, as their one writer has them. */
export class SqliteTrials implements TrialStore {
  readonly #path: string
  readonly #write: WriteTransaction
  readonly #notices: VerdictNotices
  readonly #statements

  constructor(
    database: Database,
    path: string,
    write: WriteTransaction,
    owner: DisposableStack,
    notices: VerdictNotices,
  ) {
    this.#path = path
    this.#write = write
    this.#notices = notices
    this.#statements = prepareStatements(database, owner)
  }

  begin(
    { announcement, chain, digest, leaseMs, runner }: Omit<RecordedTrial, "ended">,
    key: Omit<IdempotencyEntry, "principal"> | null,
  ): void {
    const { insert, insertStep } = this.#statements
    const { trial, principal, work, sequence, definition } = announcement
    this.#write(() => {
      insert.run(
        trial,
        principal,
        work.path,
        work.name,
        work.kind,
        chain,
        sequence,
        digest,
        leaseMs,
        runner,
        canonicalText(announcement),
        key?.key ?? null,
        key?.fingerprint ?? null,
      )
      for (const step of definition.steps) {
        const reused = step.role === "red" && isReused(step) ? (step.reuses ?? null) : null
        insertStep.run(trial, step.id, reused)
      }
    })
  }

  find(id: TrialId): RecordedTrial | null {
    const row = this.#statements.find.get(id)
    return row === null ? null : parseTrialRow(row, this.#path)
  }

  findByKey(principal: string, key: string): { fingerprint: string; trial: RecordedTrial } | null {
    const row = this.#statements.findByKey.get(principal, key)
    if (row === null) return null
    const { fingerprint } = z.object({ fingerprint: z.string() }).parse(row)
    return { fingerprint, trial: parseTrialRow(row, this.#path) }
  }

  head(principal: string, chain: Digest): ChainPlace | null {
    return placeOf(this.#statements.head.get(principal, chain))
  }

  headAt(
    principal: string,
    { path, name, kind }: Pick<TrialWork, "path" | "name" | "kind">,
  ): ChainPlace | null {
    const row = this.#statements.latestAt.get(path, principal, name, kind)
    if (row === null) return null
    const { chain } = z.object({ chain: Digest }).parse(row)
    return this.head(principal, chain)
  }

  setMarker(id: TrialId, step: string, marker: string): void {
    this.#write(() => this.#statements.setMarker.run(marker, id, step))
  }

  steps(id: TrialId): StoredStep[] {
    return this.#statements.steps.all(id).map((row) => {
      const { step, execution_id: executionId, marker } = StepRow.parse(row)
      return { step, executionId, marker }
    })
  }

  trialOf(id: ExecutionId): TrialId | null {
    const row = this.#statements.trialOf.get(id)
    return row === null ? null : z.object({ trial: TrialId }).parse(row).trial
  }

  isNeeded(id: ExecutionId): boolean {
    return this.#statements.isNeeded.get(id) !== null
  }

  receipt(id: ExecutionId): SignedReceipt | null {
    const row = this.#statements.receipt.get(id)
    return row === null ? null : parseReceiptRow(row, id, this.#path)
  }

  end(id: TrialId, verdict: TrialVerdict, envelope: SignedAttestation): void {
    const last = this.#write(() => {
      const row = this.#statements.end.get(verdict, JSON.stringify(envelope), id)
      assert(row !== null, `trial ${id} is not in the journal, or has its verdict already`)
      return this.#notices.write(id, verdict)
    })
    if (last !== null) this.#notices.written(last)
  }

  countOpen(principal: string): number {
    const row = this.#statements.countOpen.get(principal)
    return z.object({ count: z.int() }).parse(row).count
  }

  open(): RecordedTrial[] {
    return this.#statements.open.all().map((row) => parseTrialRow(row, this.#path))
  }
}

function placeOf(row: unknown): ChainPlace | null {
  return row === null ? null : PlaceRow.parse(row)
}

function prepareStatements(database: Database, owner: DisposableStack) {
  const prepare = preparing(database, owner)
  return {
    insert: prepare<
      [
        string,
        string,
        string,
        string,
        string,
        string,
        number,
        string,
        number,
        string | null,
        string,
        string | null,
        string | null,
      ]
    >(
      `INSERT INTO trials (id, principal, path, name, kind, chain, sequence, digest, lease_ms,
         runner, announcement, key, fingerprint)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    insertStep: prepare<[string, string, string | null]>(
      "INSERT INTO trial_steps (trial, step, execution_id) VALUES (?, ?, ?)",
    ),
    find: prepare<[string]>(`SELECT ${trialColumns} FROM trials WHERE id = ?`),
    findByKey: prepare<[string, string]>(
      `SELECT ${trialColumns}, fingerprint FROM trials WHERE principal = ? AND key = ?`,
    ),
    head: prepare<[string, string]>(
      `SELECT chain, sequence, digest FROM trials WHERE principal = ? AND chain = ?
       ORDER BY sequence DESC LIMIT 1`,
    ),
    latestAt: prepare<[string, string, string, string]>(
      `SELECT chain FROM trials WHERE path = ? AND principal = ? AND name = ? AND kind = ?
       ORDER BY ordinal DESC LIMIT 1`,
    ),
    setMarker: prepare<[string, string, string]>(
      "UPDATE trial_steps SET marker = ? WHERE trial = ? AND step = ? AND execution_id IS NULL",
    ),
    steps: prepare<[string]>(
      `SELECT step, execution_id, marker FROM trial_steps
       WHERE trial = ? AND execution_id IS NOT NULL`,
    ),
    trialOf: prepare<[string]>(
      `SELECT trial FROM trial_steps JOIN trials ON trials.id = trial
       WHERE execution_id = ? ORDER BY ordinal LIMIT 1`,
    ),
    isNeeded: prepare<[string]>(
      `SELECT 1 FROM trial_steps JOIN trials ON trials.id = trial
       WHERE execution_id = ? AND verdict IS NULL`,
    ),
    receipt: prepare<[string]>(
      `SELECT envelope FROM receipts
       WHERE execution = (SELECT ordinal FROM executions WHERE id = ?)`,
    ),
    end: prepare<[string, string, string]>(
      "UPDATE trials SET verdict = ?, envelope = ? WHERE id = ? AND verdict IS NULL RETURNING id",
    ),
    countOpen: prepare<[string]>(
      "SELECT count(*) AS count FROM trials WHERE verdict IS NULL AND principal = ?",
    ),
    open: prepare<[]>(`SELECT ${trialColumns} FROM trials WHERE verdict IS NULL ORDER BY ordinal`),
  }
}
