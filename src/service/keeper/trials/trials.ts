import { createHash } from "node:crypto"
import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { StateKind } from "../../../execution/state.ts"
import { Announcement, type TrialId } from "../../../execution/trial/announcement.ts"
import { newMarker } from "../../../execution/trial/check-wrapper.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import { canonicalText } from "../../../lib/canonical-text.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { AgentOptions } from "../../../protocol/agent.ts"
import type { ExecuteParams } from "../../../protocol/execute.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"
import type { KeeperParams, PeerProcess } from "../../../protocol/ipc.ts"
import type { TrialBegun, TrialEnded, TrialRenewed } from "../../../protocol/trial.ts"
import type { Starter } from "../admission/execution-slots.ts"
import { keptKey } from "../starting/repeated-start.ts"
import { diskFull } from "../starting/start-failed.ts"
import { nextPlace } from "./chain-place.ts"
import { whereaboutsOf } from "./insiders.ts"
import { judgedStatement, statementIn } from "./judged-trial.ts"
import { isRunnerPaused } from "./paused-runner.ts"
import { leaseEnded, notFound, notOutside, overAlready, stillRuns } from "./refusals.ts"
import { whyNotReusable } from "./reused-reds.ts"
import { stepStart } from "./step-start.ts"
import type { TrialPorts } from "./trial-ports.ts"

/** What the record of an execution says of trials, and what is started. */
export type PreparedStart = {
  request: ExecuteParams
  marks: Pick<ExecutionRecord, "trial" | "withinTrial">
}

type OneTrial = KeeperParams<"endTrial">

const retryMs = 1000
/** Of one principal. */
const mostOpen = 1000

/** Trials from their announcement to their verdict. What is open is in the journal, not here. */
export class Trials implements Disposable {
  readonly #ports: TrialPorts
  readonly #leases = new Map<TrialId, Disposable>()
  /** Those that nobody runs any more, while what is left of them ends. */
  readonly #losses = new Map<TrialId, Promise<unknown>>()

  constructor(ports: TrialPorts) {
    this.#ports = ports
  }

  /** What an earlier program has left open: lost with what it ran, or with its lease. */
  resume(): void {
    for (const trial of this.#ports.store.open()) {
      const { trial: id } = trial.announcement
      const lost = this.#lostStep(id)
      if (lost === null) this.#keepLease(id, trial.leaseMs)
      else this.#lose(id, `the service ended while its step ${JSON.stringify(lost)} ran`)
    }
  }

  /** What is open stays so, for the next service. */
  [Symbol.dispose](): void {
    for (const id of this.#leases.keys()) this.#dropLease(id)
  }

  async begin({
    origin: { principal },
    peer,
    request,
  }: KeeperParams<"beginTrial">): Promise<Result<TrialBegun, Failure>> {
    const refused = this.#refusedInside(peer)
    if (refused !== null) return fail(refused)
    const { store, redaction, clock } = this.#ports
    const { idempotency_key, ...asked } = request
    const { work, version, definition, lease_ms: leaseMs, runner = null } = asked
    const key = idempotency_key === undefined ? null : keptKey(idempotency_key, redaction)
    const fingerprint = digestOf(asked)
    const earlier = key && store.findByKey(principal, key.kept)
    if (earlier && earlier.fingerprint !== fingerprint) {
      const message = `The idempotency key ${JSON.stringify(key?.told)} was used for another trial.`
      return fail(failure("IDEMPOTENCY_MISMATCH", message))
    }
    if (earlier) return ok({ ...begun(earlier.trial), repeated: true })
    if (store.countOpen(principal) >= mostOpen) return fail(tooManyOpen)
    const place = nextPlace(principal, work, store)
    if (!place.ok) return place
    const { chain: _, continues: __, ...named } = work
    const announcement = Announcement.parse({
      v: 1,
      trial: this.#ports.newId(),
      ...place.value,
      work: named,
      version,
      definition,
      principal,
      announced_at: clock.now().toISOString(),
    })
    const text = canonicalText(announcement)
    if ((redaction?.text(text).count ?? 0) > 0) return fail(hasSecrets)
    const notReusable = whyNotReusable(announcement, this.#ports)
    if (notReusable !== null) return fail(failure("NOT_ANNOUNCED", notReusable))
    const digest = digestOf(announcement)
    const trial = { announcement, chain: place.value.chain ?? digest, digest, leaseMs, runner }
    const entry = key && { key: key.kept, fingerprint }
    if (!this.#ports.withoutReserve(() => store.begin(trial, entry))) return diskFull
    this.#keepLease(announcement.trial, leaseMs)
    return ok(begun(trial))
  }

  async renew(asked: OneTrial): Promise<Result<TrialRenewed, Failure>> {
    const found = this.#own(asked)
    if (!found.ok) return found
    const { ended, leaseMs } = found.value
    if (ended !== null) return fail(overAlready(asked.trial, ended))
    if (this.#losses.has(asked.trial)) return fail(leaseEnded(asked.trial))
    this.#keepLease(asked.trial, leaseMs)
    return ok({ lease_ms: leaseMs })
  }

  async end(asked: OneTrial): Promise<Result<TrialEnded, Failure>> {
    const found = this.#own(asked)
    if (!found.ok) return found
    if (found.value.ended !== null) return ok(told(asked.trial, found.value.ended))
    await this.#losses.get(asked.trial)
    await this.#whatIsEnding(asked.trial)
    const running = this.#running(asked.trial)
    if (running.length > 0) return fail(stillRuns(asked.trial, running))
    return this.#judge(asked.trial, null)
  }

  /** Whether a request is a step of a trial, and what it then starts. */
  prepareStart(
    { principal, peer }: Starter,
    request: ExecuteParams,
    agent: AgentOptions | null,
    /** The execution whose session goes on. */
    before: ExecutionRecord | null = null,
  ): Result<PreparedStart, Failure> {
    const where = this.#whereabouts(peer ?? { kind: "elsewhere" })
    if (request.trial === undefined) {
      const withinTrial = where.kind === "outside" ? before?.withinTrial : where.trial
      return ok({ request, marks: withinTrial === undefined ? {} : { withinTrial } })
    }
    if (where.kind !== "outside") return fail(notOutside(where))
    const { store } = this.#ports
    const id = request.trial
    const found = store.find(id)
    if (found?.announcement.principal !== principal) return fail(notFound(id))
    if (found.ended !== null) return fail(overAlready(id, found.ended))
    if (this.#losses.has(id)) return fail(leaseEnded(id))
    const started = stepStart(found, request, agent, this.#ports, newMarker)
    if (!started.ok) return started
    const { part, marker } = started.value
    if (marker !== null) {
      const keep = () => store.setMarker(id, part.step, marker)
      if (!this.#ports.withoutReserve(keep)) return diskFull
    }
    return ok({ request: started.value.request, marks: { trial: part } })
  }

  /** Why an execution must not be removed yet; null when it may be. */
  whyNeeded(id: ExecutionId): Failure | null {
    if (!this.#ports.store.isNeeded(id)) return null
    const message = "It is a step of a trial that is not over: end the trial before you remove it."
    return failure("WRONG_STATE", message, { state: "ended" })
  }

  #own({ origin, isAdmin, peer, trial: id }: OneTrial): Result<RecordedTrial, Failure> {
    const refused = this.#refusedInside(peer)
    if (refused !== null) return fail(refused)
    const found = this.#ports.store.find(id)
    if (found === null) return fail(notFound(id))
    const isOwn = isAdmin || found.announcement.principal === origin.principal
    return isOwn ? ok(found) : fail(notFound(id))
  }

  #refusedInside(peer: PeerProcess): Failure | null {
    const where = this.#whereabouts(peer)
    return where.kind === "outside" ? null : notOutside(where)
  }

  #whereabouts(peer: PeerProcess) {
    return whereaboutsOf(peer, this.#ports.live(), this.#ports.processes)
  }

  /** The verdict, once: what is in the journal stays, whoever was told of it. */
  async #judge(id: TrialId, lost: string | null): Promise<Result<TrialEnded, Failure>> {
    const { store, signer, journal } = this.#ports
    const trial = store.find(id)
    if (trial === null) return fail(notFound(id))
    if (trial.ended !== null) return ok(told(id, trial.ended))
    const statement = judgedStatement(trial, lost, this.#ports)
    const { verdict, reasons } = statement.predicate.trial
    const envelope = signer.sign(statement)
    if (!this.#ports.withReserve(() => store.end(id, verdict, envelope))) return diskFull
    this.#dropLease(id)
    const { work, sequence, principal } = trial.announcement
    this.#ports.judged({ trial: id, principal, sequence, work: work.name, verdict, reasons })
    await journal.sync()
    return ok({ trial: id, verdict, reasons, envelope })
  }

  #keepLease(id: TrialId, leaseMs: number): void {
    this.#dropLease(id)
    const end = () => {
      if (isRunnerPaused(this.#ports.store.find(id), this.#ports)) this.#keepLease(id, leaseMs)
      else this.#lose(id, `nobody renewed its lease of ${leaseMs / 1000} s`)
    }
    this.#leases.set(id, this.#ports.clock.after(leaseMs, end))
  }

  #dropLease(id: TrialId): void {
    this.#leases.get(id)?.[Symbol.dispose]()
    this.#leases.delete(id)
  }

  #lose(id: TrialId, why: string): void {
    this.#dropLease(id)
    const loss = this.#endAndJudge(id, why)
      .then((judged) => {
        // Without room on the disk it is tried again: it must not stay open for ever.
        if (!judged.ok) this.#leases.set(id, this.#again(id, why))
        return judged
      })
      .finally(() => this.#losses.delete(id))
    this.#losses.set(id, loss)
  }

  #again(id: TrialId, why: string): Disposable {
    return this.#ports.clock.after(retryMs, () => this.#lose(id, why))
  }

  async #endAndJudge(id: TrialId, why: string): Promise<Result<TrialEnded, Failure>> {
    const live = this.#live(id)
    for (const supervision of live) void this.#ports.cancel(supervision).catch(() => undefined)
    await Promise.all(live.map(({ ended }) => ended))
    return this.#judge(id, why)
  }

  #live(id: TrialId) {
    return this.#ports
      .live()
      .all()
      .filter(({ record }) => record.trial?.id === id)
  }

  /** Whoever has canceled a step need not wait for its end before asking for the verdict. */
  async #whatIsEnding(id: TrialId): Promise<void> {
    const ending = this.#live(id).filter(({ record }) => isEnding.has(record.state.kind))
    await Promise.all(ending.map(({ ended }) => ended))
  }

  /** The steps that have no end in the journal. */
  #running(id: TrialId): string[] {
    return this.#ports.store.steps(id).flatMap(({ step, executionId }) => {
      const record = this.#ports.journal.find(executionId)
      return record !== null && record.state.kind !== "ended" ? [step] : []
    })
  }

  #lostStep(id: TrialId): string | null {
    const lost = this.#ports.store.steps(id).find(({ executionId }) => {
      const state = this.#ports.journal.find(executionId)?.state
      return state?.kind === "ended" && state.outcome.kind === "lost"
    })
    return lost?.step ?? null
  }
}

const isEnding: ReadonlySet<StateKind> = new Set(["stopping", "draining", "ended"] as const)

function begun({ announcement, chain, digest, leaseMs }: Omit<RecordedTrial, "ended">): TrialBegun {
  const { trial, sequence, previous } = announcement
  return { trial, chain, sequence, previous, digest, lease_ms: leaseMs }
}

function told(
  trial: TrialId,
  { verdict, envelope }: NonNullable<RecordedTrial["ended"]>,
): TrialEnded {
  return { trial, verdict, reasons: statementIn(envelope).predicate.trial.reasons, envelope }
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(canonicalText(value)).digest("hex")
}

const tooManyOpen = failure(
  "AT_CAPACITY",
  `You have ${mostOpen} trials open: end some of them first.`,
  { retry_after: 1 },
)

const hasSecrets = failure(
  "INVALID_PARAMS",
  "The announcement has something that a redaction pattern matches, and is recorded as it is: " +
    "keep it in a file, or in the service's environment.",
)
