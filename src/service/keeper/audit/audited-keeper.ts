import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import { Deduplicator } from "../../../lib/deduplicator.ts"
import { fail, type Result } from "../../../lib/result.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { RuleDecision } from "../../../protocol/agent-host.ts"
import type {
  Attempt,
  Origin,
  PassedOnAttempt,
  RefusedAttempt,
  TrialFacts,
} from "../../../protocol/audit-entry.ts"
import { auditMessage } from "../../../protocol/audit-message.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import type { Failure, Reason } from "../../../protocol/failure.ts"
import type { KeeperParams, PeerProcess } from "../../../protocol/ipc.ts"
import type { ControlResult, InputResult } from "../../../protocol/methods.ts"
import type { Predecessor } from "../agents/agent-start.ts"
import type { Workplace } from "../agents/workplace.ts"
import type { Keeper } from "../keeper.ts"
import type { Audit, Clock, Redaction } from "../ports.ts"
import { redactMessage } from "../redact.ts"
import type { JudgedTrial } from "../trials/trial-ports.ts"
import { decisionNote, endNotes, factsOfRequest, factsOfSpec, orderFacts } from "./audit-notes.ts"

type Asked = Pick<Attempt, "method" | "execution_id" | "what">

const windowMs = 1000
/** Each is an attempt with its command. Past these, every further one gets its line at once. */
const mostKinds = 1000

/** For want of room, or for speed, whatever the command: a flood of those is one kind. */
const aboutRoom: ReadonlySet<Reason> = new Set([
  "RATE_LIMITED",
  "AT_CAPACITY",
  "SHUTTING_DOWN",
  "DISK_FULL",
] as const)

/**
 * The keeper as the gateway reaches it: whatever is asked of it leaves a line in the audit trail.
 * A refusal is marked as noted, so that the gateway, which notes all others, leaves it alone.
 */
export class AuditedKeeper {
  readonly #keeper: Keeper
  readonly #audit: Audit
  readonly #clock: Clock
  readonly #redaction: Redaction | null
  readonly #refusals = new Deduplicator<Attempt>(windowMs, mostKinds)
  /** Inputs after a principal's first, by execution and principal. */
  readonly #inputs = new Map<ExecutionId, Map<string, { origin: Origin; count: number }>>()
  #timer: Disposable | null = null

  constructor(keeper: Keeper, audit: Audit, clock: Clock, redaction: Redaction | null) {
    this.#keeper = keeper
    this.#redaction = redaction
    this.#audit = audit
    this.#clock = clock
  }

  start(
    origin: Origin,
    exempt: boolean,
    request: ExecuteParams,
    follow: boolean,
    agent?: AgentOptions,
    predecessor: Predecessor | null = null,
    workplace: Workplace | null = null,
    peer?: PeerProcess,
  ): Result<{ record: ExecutionRecord; repeated: boolean }, Failure> {
    const { principal } = origin
    const method = agent === undefined ? "execute" : "agent.start"
    const starter = { principal, exempt, peer }
    const options = agent ?? null
    const started = this.#keeper.start(starter, request, follow, options, predecessor, workplace)
    if (!started.ok) return this.refusedStart(origin, method, request, started.failure)
    const { record, repeated } = started.value
    const what = factsOfSpec(record.spec)
    const asked = { method, execution_id: record.id, what }
    this.#allowed(origin, asked, repeated ? { repeated } : {})
    return started
  }

  refusedStart(
    origin: Origin,
    method: "execute" | "agent.start",
    request: ExecuteParams,
    failure: Failure,
  ): Result<never, Failure> {
    const isAboutCommand = !aboutRoom.has(failure.reason)
    const what = isAboutCommand ? { what: factsOfRequest(request, this.#redaction) } : {}
    return this.#refused(origin, { method, ...what }, failure, request.env)
  }

  /** Something else that was done, or refused. */
  asked<Value>(
    origin: Origin,
    asked: Asked,
    outcome: Result<Value, Failure>,
  ): Result<Value, Failure> {
    if (!outcome.ok) return this.#refused(origin, asked, outcome.failure)
    this.#allowed(origin, asked)
    return outcome
  }

  async control({
    origin,
    ...order
  }: KeeperParams<"control">): Promise<Result<ControlResult, Failure>> {
    const { executionId, type, signal } = order
    const what = signal === undefined ? { type } : { type, signal }
    const asked = { method: "control", execution_id: executionId, what }
    // It takes as long as the tree takes to end, and is never refused: who did it is noted first.
    const isCertain = type === "CANCEL" && this.#keeper.live.find(executionId) !== null
    if (isCertain) this.#allowed(origin, asked)
    const outcome = await this.#keeper.control(order)
    if (!outcome.ok) return this.#refused(origin, asked, outcome.failure)
    if (!isCertain) this.#allowed(origin, asked)
    return outcome
  }

  async input({ origin, ...input }: KeeperParams<"input">): Promise<Result<InputResult, Failure>> {
    const { executionId } = input
    const outcome = await this.#keeper.input({ ...input, principal: origin.principal })
    const asked = { method: "input", execution_id: executionId }
    if (!outcome.ok) return this.#refused(origin, asked, outcome.failure)
    // After its end nobody would tell, or forget, what is counted here.
    const isLive = (this.#keeper.live.find(executionId)?.child ?? null) !== null
    const earlier = this.#inputs.get(executionId)?.get(origin.principal)
    if (isLive && earlier !== undefined) {
      earlier.count += 1
      return outcome
    }
    this.#allowed(origin, asked)
    if (isLive) this.#countInputs(executionId, origin)
    return outcome
  }

  async order({
    origin,
    ...order
  }: KeeperParams<"order">): Promise<Result<Record<string, never>, Failure>> {
    const asked = { ...orderFacts(order.order), execution_id: order.executionId }
    const outcome = await this.#keeper.order(order, origin.principal)
    if (!outcome.ok) return this.#refused(origin, asked, outcome.failure)
    this.#allowed(origin, asked)
    return outcome
  }

  async remove({
    origin,
    executionId,
  }: KeeperParams<"remove">): Promise<Result<Record<string, never>, Failure>> {
    const asked = { method: "remove", execution_id: executionId }
    const removed = await this.#keeper.remove(executionId)
    if (!removed.ok) return this.#refused(origin, asked, removed.failure)
    this.#allowed(origin, asked)
    return removed
  }

  /** Something about a trial; what is asked every few seconds is noted only when refused. */
  async ofTrial<Value>(
    origin: Origin,
    method: "trial.begin" | "trial.renew" | "trial.end",
    facts: (value: Value | null) => TrialFacts,
    answer: Promise<Result<Value, Failure>>,
  ): Promise<Result<Value, Failure>> {
    const outcome = await answer
    const asked = { method, what: facts(outcome.ok ? outcome.value : null) }
    if (!outcome.ok) return this.#refused(origin, asked, outcome.failure)
    if (method !== "trial.renew") this.#allowed(origin, asked)
    return outcome
  }

  judged({ principal, ...what }: JudgedTrial): void {
    const { reasons, ...facts } = what
    const note = { ...facts, reason: reasons[0] ?? "" }
    this.#audit.note({ event: "trial-judged", principal, outcome: "happened", what: note })
  }

  /** By the gateway, which has counted them already. */
  refusedElsewhere(refusals: readonly RefusedAttempt[]): void {
    for (const { message = "", ...refusal } of refusals) {
      this.#audit.note({ ...refusal, message: redactMessage(message, this.#redaction) })
    }
  }

  /** By another node, for a caller of this one. */
  passedOn(attempt: PassedOnAttempt): void {
    this.#audit.note(attempt)
  }

  ended(record: ExecutionRecord): void {
    this.#tellInputs(record.id)
    for (const note of endNotes(record)) this.#audit.note(note)
  }

  ruleDecided(record: ExecutionRecord, decision: RuleDecision): void {
    this.#audit.note(decisionNote(record, decision))
  }

  /** What was only counted of inputs is told now: the next program counts anew. */
  handOver(): void {
    for (const id of this.#inputs.keys()) this.#tellInputs(id)
    this.flush()
  }

  /** What was only counted so far. */
  flush(): void {
    this.#tellRepeats(Number.POSITIVE_INFINITY)
    this.#timer?.[Symbol.dispose]()
    this.#timer = null
  }

  #countInputs(executionId: ExecutionId, origin: Origin): void {
    const inputs = this.#inputs.get(executionId) ?? new Map<string, never>()
    this.#inputs.set(executionId, inputs.set(origin.principal, { origin, count: 0 }))
  }

  #tellInputs(execution_id: ExecutionId): void {
    const inputs = this.#inputs.get(execution_id) ?? new Map<never, never>()
    this.#inputs.delete(execution_id)
    for (const { origin, count } of inputs.values()) {
      if (count > 0) this.#allowed(origin, { method: "input", execution_id }, { count })
    }
  }

  #allowed(origin: Origin, asked: Asked, more: Pick<Attempt, "repeated" | "count"> = {}): void {
    this.#audit.note({ event: "attempt", ...origin, ...asked, outcome: "allowed", ...more })
  }

  #refused(
    origin: Origin,
    asked: Asked,
    failure: Failure,
    env: Record<string, string> = {},
  ): Result<never, Failure> {
    const { reason } = failure
    const attempt: Attempt = { event: "attempt", ...origin, ...asked, outcome: "refused", reason }
    const message = redactMessage(auditMessage(failure, env), this.#redaction)
    const note = { ...attempt, message }
    const taken = this.#refusals.add(JSON.stringify(attempt), note, this.#clock.monotonicMs())
    if (taken !== "counted") this.#audit.note(note)
    this.#timer ??= this.#clock.after(windowMs, () => this.#passWindow())
    return fail({ ...failure, audited: true })
  }

  #passWindow(): void {
    this.#tellRepeats(this.#clock.monotonicMs())
    this.#timer = this.#refusals.isEmpty
      ? null
      : this.#clock.after(windowMs, () => this.#passWindow())
  }

  #tellRepeats(nowMs: number): void {
    for (const { entry, count } of this.#refusals.due(nowMs)) this.#audit.note({ ...entry, count })
  }
}
