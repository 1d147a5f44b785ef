import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { Restart } from "../../../execution/restart.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { type Failure, failure, type Reason } from "../../../protocol/failure.ts"
import type { KeeperParams, KeeperResult } from "../../../protocol/ipc.ts"
import { restartRequest } from "../../../protocol/restart-request.ts"
import { interruptedNotes, restartedNotes } from "../audit/audit-notes.ts"
import type { Keeper } from "../keeper.ts"
import type { Audit, Journal, Redaction } from "../ports.ts"
import { redactMessage } from "../redact.ts"
import type { Predecessor } from "./agent-start.ts"

/** Refusals that say nothing about the session: it is tried again later. */
const passing: ReadonlySet<Reason> = new Set([
  "AT_CAPACITY",
  "RATE_LIMITED",
  "DISK_FULL",
  "SHUTTING_DOWN",
] as const)

type Ports = {
  store: Pick<Journal, "find" | "update">
  audit: Audit
  redaction: Redaction | null
  /** False when the disk has no room for it. */
  withReserve(write: () => void): boolean
  changed(record: ExecutionRecord): void
}

/** Goes on, in new executions, with sessions that ended because the service died. */
export class SessionRestarts {
  readonly #keeper: Pick<Keeper, "start">
  readonly #ports: Ports

  constructor(keeper: Pick<Keeper, "start">, ports: Ports) {
    this.#keeper = keeper
    this.#ports = ports
  }

  /** By itself, in the name of whoever had started it. */
  restart({
    executionId,
    work,
  }: KeeperParams<"restart">): Result<KeeperResult<"restart">, Failure> {
    const record = this.#ports.store.find(executionId)
    if (record?.restart === undefined) return fail(nothingToRestart(executionId))
    const { restart } = record
    if (restart.kind !== "pending") return ok({ restart })
    const old = { ...record, restart }
    if ("unreadable" in work) return this.#interrupted(old, work.unreadable)
    const { request, options } = restartRequest(old, work)
    const predecessor = { record: old, work, attempt: restart.attempt }
    // It was admitted once, by limits that need not be those of its principal alone.
    const starter = { principal: old.principal, exempt: true }
    const started = this.#keeper.start(starter, request, false, options, predecessor)
    if (started.ok) return ok({ restart: this.linked(started.value.record) })
    const { reason, message } = started.failure
    return passing.has(reason) ? started : this.#interrupted(old, message)
  }

  /** What somebody goes on with by hand; null when it has gone on already. */
  predecessor({
    executionId,
    work,
  }: NonNullable<KeeperParams<"start">["goesOnWith"]>): Predecessor | null {
    const record = this.#ports.store.find(executionId)
    const isOpen = record?.restart !== undefined && record.restart.kind !== "restarted"
    return isOpen ? { record, work, attempt: 1 } : null
  }

  /** Tells that a session goes on. */
  linked(successor: ExecutionRecord): Restart {
    for (const note of restartedNotes(successor)) this.#ports.audit.note(note)
    const old = this.#ports.store.find(successor.spec.agent?.restartOf ?? successor.id)
    if (old !== null) this.#ports.changed(old)
    return { kind: "restarted", as: successor.id }
  }

  #interrupted(old: ExecutionRecord, message: string): Result<KeeperResult<"restart">, Failure> {
    const why = redactMessage(message, this.#ports.redaction)
    const restart: Restart = { kind: "interrupted", why, missing: [] }
    const record = { ...old, restart }
    const isWritten = this.#ports.withReserve(() => this.#ports.store.update(record))
    if (!isWritten) return fail(failure("DISK_FULL", "The disk of the service is full."))
    for (const note of interruptedNotes(record)) this.#ports.audit.note(note)
    this.#ports.changed(record)
    return ok({ restart })
  }
}

function nothingToRestart(id: ExecutionId): Failure {
  return failure("PROCESS_NOT_FOUND", `Execution ${id} is gone, or has nothing to go on with.`)
}
