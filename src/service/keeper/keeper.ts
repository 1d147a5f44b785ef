import type { ExecutionId } from "../../execution/id.ts"
import type { ExecutionRecord } from "../../execution/record.ts"
import type { StopCause } from "../../execution/state.ts"
import { ByteBudget } from "../../lib/byte-budget.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { ExecuteParams } from "../../protocol/execute.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { HandedExecutions } from "../../protocol/handover.ts"
import type { KeeperParams } from "../../protocol/ipc.ts"
import type { ControlResult, InputResult } from "../../protocol/methods.ts"
import { mostWaitingInputBytes, tooMuchInputWaits } from "../../protocol/session-limits.ts"
import { Admission, type AdmissionSettings } from "./admission/admission.ts"
import { type DiskUse, shareOf } from "./admission/disk-use.ts"
import type { Starter } from "./admission/execution-slots.ts"
import { type LiveEntry, LiveTable, type QueuedStart } from "./live-table.ts"
import type { Clock, Journal, Programs, Spawner, TranscriptStore } from "./ports.ts"
import { redactSpec } from "./redact.ts"
import { newRecord } from "./starting/new-record.ts"
import { type Plan, type PlanSettings, planExecution, sameAsPlanned } from "./starting/plan.ts"
import { keptKey, repeatedStart } from "./starting/repeated-start.ts"
import { beingUpgraded, diskFull, shuttingDown, startFailed } from "./starting/start-failed.ts"
import { Supervision } from "./supervision/supervision.ts"
import type { SupervisionPorts, SupervisionSettings } from "./supervision/supervision-ports.ts"
import { tooLate } from "./supervision/wrong-state.ts"

export type KeeperSettings = AdmissionSettings & {
  plan: () => PlanSettings
  supervision: SupervisionSettings
}

export type KeeperPorts = Omit<SupervisionPorts, "spawner" | "transcripts"> & {
  clock: Clock
  spawner: Spawner
  transcripts: TranscriptStore
  store: Journal
  programs: Programs
  /** Runs a write of the store; false when the disk has no room for it. */
  withoutReserve(write: () => void): boolean
  /** The same for what makes room, or takes back: there is a reserve for it. */
  withReserve(write: () => void): boolean
  newId(): ExecutionId
  /** The same for the same request, whatever the order of its fields. */
  fingerprint(request: ExecuteParams): string
  signalNumber(signal: string | number): number | null
}

type Order = Omit<KeeperParams<"control">, "origin">
type Input = Omit<KeeperParams<"input">, "origin">

/** Every live execution, and the only access to them. */
export class Keeper {
  readonly #settings: KeeperSettings
  readonly #ports: KeeperPorts
  readonly live = new LiveTable()
  readonly #admission: Admission<QueuedStart & { starter: Starter }>
  readonly #waitingInput = new ByteBudget(mostWaitingInputBytes)
  #isShuttingDown = false
  #isHandingOver = false

  constructor(settings: KeeperSettings, ports: KeeperPorts) {
    this.#settings = settings
    this.#ports = ports
    this.#admission = new Admission(settings, ports.clock, () => this.live.shares())
  }

  get disk(): DiskUse {
    return this.#admission.disk
  }

  /**
   * Who follows what it starts drives it, until the gateway says otherwise: that may take a while,
   * and no lease must run out before.
   */
  start(
    starter: Starter,
    request: ExecuteParams,
    isFollowed = false,
  ): Result<{ record: ExecutionRecord; repeated: boolean }, Failure> {
    const { principal } = starter
    const tooMany = this.#admission.rateRefusal(starter)
    if (tooMany !== null) return fail(tooMany)
    const { store, redaction } = this.#ports
    const { idempotency_key } = request
    const key = idempotency_key === undefined ? null : keptKey(idempotency_key, redaction)
    const asked = key && { principal, key, fingerprint: this.#ports.fingerprint(request) }
    const repeated = asked && repeatedStart(asked, store, (id) => this.live.find(id)?.record)
    if (repeated !== null) return repeated
    if (this.#isShuttingDown) return shuttingDown
    if (this.#isHandingOver) return beingUpgraded
    const room = this.#admission.availability(starter)
    if (!room.ok) return room
    const plan = this.#plan(request, starter)
    if (!plan.ok) return plan

    const mustWait = room.value === "waits"
    const record = newRecord({
      id: this.#ports.newId(),
      principal,
      ranAs: plan.value.launch.user,
      ...redactSpec(plan.value.spec, redaction),
      containment: this.#ports.spawner.containment,
      state: { kind: mustWait ? "queued" : "starting" },
      createdAt: this.#ports.clock.now().toISOString(),
    })
    const idempotency = asked && { ...asked, key: asked.key.kept }
    if (!this.#ports.withoutReserve(() => store.create(record, idempotency))) return diskFull
    const supervision = this.#supervision(record)
    if (isFollowed) supervision.setDrivers(1, null)
    const { slots } = this.#admission
    if (mustWait) {
      this.#queue(starter, { supervision, planned: plan.value.spec, request })
      return ok({ record, repeated: false })
    }
    const slot = slots.acquire(starter)
    const started = this.#launch(supervision, plan.value)
    if (!started.ok) {
      slot.release()
      // Nothing refused was partly done: the attempt leaves no execution behind.
      const isWithdrawn = this.#ports.withReserve(() => store.withdraw(record.id, idempotency))
      if (!isWithdrawn) void supervision.endUnstarted(startFailed(started.failure, redaction))
      return started
    }
    this.#enlist({ supervision, starter, slot, queuedStart: null })
    return ok({ record: started.value, repeated: false })
  }

  /** Goes on with what the program before this one has left, in its order. */
  adopt({ executions, queued }: HandedExecutions): void {
    for (const handed of executions) {
      const { record, exempt } = handed
      const supervision = this.#supervision(record)
      supervision.adopt(handed)
      const starter = { principal: record.principal, exempt }
      const slot = this.#admission.slots.acquire(starter)
      this.#enlist({ supervision, starter, slot, queuedStart: null })
    }
    for (const { record, exempt, planned, request } of queued) {
      const supervision = this.#supervision(record)
      this.#queue({ principal: record.principal, exempt }, { supervision, planned, request })
    }
    this.#startQueued()
  }

  /** From now on nothing new starts, until it goes on here after all. */
  holdStarts(isHeld: boolean): void {
    this.#isHandingOver = isHeld
    if (!isHeld) this.#startQueued()
  }

  async control(order: Order): Promise<Result<ControlResult, Failure>> {
    const { executionId: execution_id, type } = order
    const supervision = this.live.find(execution_id)
    if (supervision === null) return this.#notLive(execution_id, type)
    switch (type) {
      case "PAUSE": {
        const paused = await supervision.steering.pause()
        return paused.ok ? ok({ status: "paused", execution_id }) : paused
      }
      case "RESUME": {
        const resumed = await supervision.steering.resume()
        return resumed.ok ? ok({ status: "resumed", execution_id }) : resumed
      }
      case "CANCEL": {
        const { stopped: processes, survivors } = await this.cancel(supervision, "client")
        return ok({ status: "canceled", execution_id, processes, survivors })
      }
      case "SIGNAL": {
        const number = this.#ports.signalNumber(order.signal ?? "")
        if (number === null) {
          return fail(failure("INVALID_PARAMS", `Unknown signal: ${order.signal}.`))
        }
        const reached = supervision.steering.signal(number)
        return reached.ok
          ? ok({ status: "signaled", execution_id, processes: reached.value })
          : reached
      }
    }
  }

  async input(params: Input): Promise<Result<InputResult, Failure>> {
    const supervision = this.live.find(params.executionId)
    if (supervision === null) return this.#notLive(params.executionId, "input")
    using held = this.#waitingInput.hold(params.data.length)
    if (held === null) return fail(tooMuchInputWaits)
    return await supervision.write(params.data, params.end, params.offset)
  }

  resize(params: KeeperParams<"resize">): Result<Record<string, never>, Failure> {
    const supervision = this.live.find(params.executionId)
    if (supervision === null) return this.#notLive(params.executionId, "resize")
    return supervision.resize(params.size)
  }

  setDrivers({ executionId, principals, floor }: KeeperParams<"drivers">): void {
    const supervision = this.live.find(executionId)
    if (supervision === null) return
    const owner = supervision.record.principal
    const holders = principals.filter((principal) => principal === owner).length
    supervision.setDrivers(holders, floor)
  }

  /** The gateway is gone, and every driver with it. */
  forgetDrivers(): void {
    for (const supervision of this.live.all()) supervision.setDrivers(0, null)
  }

  remove(id: ExecutionId): Result<Record<string, never>, Failure> {
    const live = this.live.find(id)
    if (live !== null) {
      const { kind } = live.record.state
      const message = `It is ${kind}: cancel it before you remove it.`
      return fail(failure("WRONG_STATE", message, { state: kind }))
    }
    if (this.#ports.store.find(id) === null) return this.#notLive(id, "remove")
    const { store, transcripts } = this.#ports
    const isForgotten = this.#ports.withReserve(() => store.remove(id))
    transcripts.remove(id)
    // To forget takes room as well, and what was just removed may have been all there is.
    if (!isForgotten && !this.#ports.withReserve(() => store.remove(id))) return diskFull
    return ok({})
  }

  /** Ends everything with cause `shutdown`; resolves when all of it is in the journal. */
  async shutDown(): Promise<void> {
    this.#isShuttingDown = true
    const endings = this.live.all().map((supervision) => supervision.ended)
    for (const supervision of this.live.all()) {
      // What fails in a stop is told, and ended, by its own supervision.
      this.cancel(supervision, "shutdown").catch(() => undefined)
    }
    await Promise.all(endings)
  }

  hurry(): void {
    for (const supervision of this.live.all()) supervision.steering.hurry()
  }

  async cancel(supervision: Supervision, cause: StopCause) {
    const entry = this.live.entry(supervision.record.id)
    if (entry?.slot.leaveQueue() !== true) return supervision.steering.stop(cause)
    await supervision.endUnstarted({ kind: "stop-requested", cause })
    return { stopped: [], survivors: [] }
  }

  #supervision(record: ExecutionRecord): Supervision {
    return new Supervision(record, this.#settings.supervision, this.#ports)
  }

  #enlist(entry: LiveEntry): void {
    const { starter, slot, supervision } = entry
    this.live.add(entry, () => {
      const { id } = supervision.record
      this.disk.ended(shareOf(id, starter, supervision.transcriptFacts))
      slot.release()
      this.#startQueued()
    })
  }

  #plan(request: ExecuteParams, { exempt }: Starter): Result<Plan, Failure> {
    return planExecution(request, this.#settings.plan(), this.#ports.programs, exempt)
  }

  #queue(starter: Starter, waiting: QueuedStart): void {
    const { supervision } = waiting
    const slot = this.#admission.slots.enqueue(starter, { ...waiting, starter })
    this.#enlist({ supervision, starter, slot, queuedStart: waiting })
  }

  #startQueued(): void {
    while (!this.#isShuttingDown && !this.#isHandingOver) {
      const waiting = this.#admission.slots.admitNext()
      if (waiting === null) return
      const { supervision, planned, request, starter } = waiting
      supervision.apply({ kind: "admitted" })
      const plan = sameAsPlanned(planned, this.#plan(request, starter)) // files had time to change
      const started = plan.ok ? this.#launch(supervision, plan.value) : plan
      if (!started.ok)
        void supervision.endUnstarted(startFailed(started.failure, this.#ports.redaction))
    }
  }

  /** Whatever goes wrong with one start is that execution's affair. */
  #launch(supervision: Supervision, plan: Plan): Result<ExecutionRecord, Failure> {
    try {
      return supervision.start({ ...plan.launch, executionId: supervision.record.id })
    } catch (error) {
      this.#ports.broke(supervision.record, error)
      return fail(failure("INTERNAL", `Could not start: ${String(error)}.`))
    }
  }

  #notLive(id: ExecutionId, verb: string): Result<never, Failure> {
    return tooLate(id, this.#ports.store.find(id)?.state.kind ?? null, verb)
  }
}
