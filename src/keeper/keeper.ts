import { ByteBudget } from "../execution/byte-budget.ts"
import type { ExecutionId } from "../execution/id.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import type { StopCause } from "../execution/state.ts"
import type { ExecuteParams } from "../protocol/execute.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { KeeperParams } from "../protocol/ipc.ts"
import type { ControlResult, InputResult } from "../protocol/methods.ts"
import { mostWaitingInputBytes, tooMuchInputWaits } from "../protocol/waiting-input.ts"
import { newRecord } from "./new-record.ts"
import { type Plan, type PlanSettings, planExecution } from "./plan.ts"
import type { Clock, Journal, Programs, Spawner, TranscriptStore } from "./ports.ts"
import { Supervision } from "./supervision.ts"
import type { SupervisionPorts, SupervisionSettings } from "./supervision-ports.ts"

export type KeeperSettings = {
  plan: PlanSettings
  supervision: SupervisionSettings
  maxExecutions: number // running at once
  maxQueue: number // waiting for a place
}

export type KeeperPorts = Omit<SupervisionPorts, "spawner" | "transcripts"> & {
  clock: Clock
  spawner: Spawner
  transcripts: TranscriptStore
  store: Journal
  programs: Programs
  /** Runs a write of the store; false when the disk has no room for it. */
  ifRoom(write: () => void): boolean
  /** The same for what makes room, or takes back: there is a reserve for it. */
  withReserve(write: () => void): boolean
  newId(): ExecutionId
  /** The same for the same request, whatever the order of its fields. */
  fingerprint(request: ExecuteParams): string
  signalNumber(signal: string | number): number | null
}

type Waiting = { supervision: Supervision; plan: Plan }

const diskFull = fail(
  failure("DISK_FULL", "The service's disk is full: free some space, then try again."),
)

/** Every live execution, and the only door to them. */
export class Keeper {
  readonly #settings: KeeperSettings
  readonly #ports: KeeperPorts
  readonly #live = new Map<ExecutionId, Supervision>()
  readonly #queue: Waiting[] = []
  /** Canceled while they waited: they count as waiting until their end is in the journal. */
  readonly #leavingQueue = new Set<ExecutionId>()
  readonly #waitingInput = new ByteBudget(mostWaitingInputBytes)
  #isShuttingDown = false

  constructor(settings: KeeperSettings, ports: KeeperPorts) {
    this.#settings = settings
    this.#ports = ports
  }

  get size(): number {
    return this.#live.size
  }

  records(): ExecutionRecord[] {
    return [...this.#live.values()].map((supervision) => supervision.record)
  }

  find(id: ExecutionId): Supervision | null {
    return this.#live.get(id) ?? null
  }

  /**
   * Who follows what it starts drives it, until the gateway says otherwise: that may take a while,
   * and no lease must run out before.
   */
  start(
    principal: string,
    request: ExecuteParams,
    isFollowed = false,
  ): Result<{ record: ExecutionRecord; repeated: boolean }, Failure> {
    const key = request.idempotency_key
    const fingerprint = key === undefined ? "" : this.#ports.fingerprint(request)
    if (key !== undefined) {
      const earlier = this.#ports.store.findByKey(principal, key)
      if (earlier !== null) return this.#repeat(key, fingerprint, earlier)
    }
    if (this.#isShuttingDown) {
      return fail(failure("SHUTTING_DOWN", "The service is shutting down: nothing new is started."))
    }
    const plan = planExecution(request, this.#settings.plan, this.#ports.programs)
    if (!plan.ok) return plan

    const mustWait = this.#runningCount() >= this.#settings.maxExecutions
    if (mustWait && this.#waitingCount() >= this.#settings.maxQueue) {
      const { maxExecutions, maxQueue } = this.#settings
      const message = `All ${maxExecutions} places are taken and ${maxQueue} wait: try again later.`
      return fail(failure("AT_CAPACITY", message, { retry_after: 1 }))
    }
    const record = newRecord({
      id: this.#ports.newId(),
      principal,
      spec: plan.value.spec,
      containment: this.#ports.spawner.containment,
      state: { kind: mustWait ? "queued" : "starting" },
      createdAt: this.#ports.clock.now().toISOString(),
    })
    const idempotency = key === undefined ? null : { principal, key, fingerprint }
    const { store } = this.#ports
    if (!this.#ports.ifRoom(() => store.create(record, idempotency))) return diskFull
    const supervision = new Supervision(record, this.#settings.supervision, this.#ports)
    if (isFollowed) supervision.setDrivers(1, null)
    if (mustWait) {
      this.#enlist(supervision)
      this.#queue.push({ supervision, plan: plan.value })
      return ok({ record, repeated: false })
    }
    const started = this.#launch(supervision, plan.value)
    if (!started.ok) {
      // Nothing refused was partly done: the attempt leaves no execution behind.
      const isWithdrawn = this.#ports.withReserve(() => store.withdraw(record.id, idempotency))
      if (!isWithdrawn) this.#failToStart(supervision, started.failure)
      return started
    }
    this.#enlist(supervision)
    return ok({ record: started.value, repeated: false })
  }

  async control(order: KeeperParams<"control">): Promise<Result<ControlResult, Failure>> {
    const { executionId: execution_id, type } = order
    const supervision = this.#live.get(execution_id)
    if (supervision === undefined) return this.#notLive(execution_id, type)
    switch (type) {
      case "PAUSE": {
        const paused = await supervision.pause()
        return paused.ok ? ok({ status: "paused", execution_id }) : paused
      }
      case "RESUME": {
        const resumed = await supervision.resume()
        return resumed.ok ? ok({ status: "resumed", execution_id }) : resumed
      }
      case "CANCEL": {
        const { stopped: processes, survivors } = await this.cancel(supervision, "client")
        return ok({ status: "canceled", execution_id, processes, survivors })
      }
      case "SIGNAL": {
        const number = this.#ports.signalNumber(order.signal ?? "")
        if (number === null) {
          return fail(failure("INVALID_PARAMS", `There is no signal ${order.signal}.`))
        }
        const reached = supervision.signal(number)
        return reached.ok
          ? ok({ status: "signaled", execution_id, processes: reached.value })
          : reached
      }
    }
  }

  async input(params: KeeperParams<"input">): Promise<Result<InputResult, Failure>> {
    const supervision = this.#live.get(params.executionId)
    if (supervision === undefined) return this.#notLive(params.executionId, "input")
    using held = this.#waitingInput.hold(params.data.length)
    if (held === null) return fail(tooMuchInputWaits)
    return await supervision.write(params.data, params.end, params.offset)
  }

  resize(params: KeeperParams<"resize">): Result<Record<string, never>, Failure> {
    const supervision = this.#live.get(params.executionId)
    if (supervision === undefined) return this.#notLive(params.executionId, "resize")
    return supervision.resize(params.size)
  }

  setDrivers({ executionId, principals, floor }: KeeperParams<"drivers">): void {
    const supervision = this.#live.get(executionId)
    if (supervision === undefined) return
    const owner = supervision.record.principal
    const holders = principals.filter((principal) => principal === owner).length
    supervision.setDrivers(holders, floor)
  }

  /** The gateway is gone, and every driver with it. */
  forgetDrivers(): void {
    for (const supervision of this.#live.values()) supervision.setDrivers(0, null)
  }

  remove(id: ExecutionId): Result<Record<string, never>, Failure> {
    const live = this.#live.get(id)
    if (live !== undefined) {
      const { kind } = live.record.state
      const message = `It is ${kind}: cancel it before it can be removed.`
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
    const endings = [...this.#live.values()].map((supervision) => supervision.ended)
    for (const supervision of this.#live.values()) {
      // What fails in a stop is told, and ended, by its own supervision.
      this.cancel(supervision, "shutdown").catch(() => undefined)
    }
    await Promise.all(endings)
  }

  hurry(): void {
    for (const supervision of this.#live.values()) supervision.hurry()
  }

  async cancel(supervision: Supervision, cause: StopCause) {
    const at = this.#queue.findIndex((waiting) => waiting.supervision === supervision)
    if (at < 0) return supervision.stop(cause)
    this.#queue.splice(at, 1)
    this.#leavingQueue.add(supervision.record.id)
    await supervision.endUnstarted({ kind: "stop-requested", cause })
    return { stopped: [], survivors: [] }
  }

  #enlist(supervision: Supervision): void {
    const { id } = supervision.record
    this.#live.set(id, supervision)
    const leave = () => {
      this.#live.delete(id)
      this.#leavingQueue.delete(id)
      this.#fillPlaces()
    }
    void supervision.ended.then(leave)
  }

  #fillPlaces(): void {
    while (!this.#isShuttingDown && this.#runningCount() < this.#settings.maxExecutions) {
      const waiting = this.#queue.shift()
      if (waiting === undefined) return
      const { supervision, plan } = waiting
      supervision.admit()
      const started = this.#launch(supervision, plan)
      if (!started.ok) this.#failToStart(supervision, started.failure)
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

  #failToStart(supervision: Supervision, { message, details }: Failure): void {
    const errno = typeof details?.["errno"] === "string" ? details["errno"] : "unknown"
    void supervision.endUnstarted({ kind: "start-failed", errno, message })
  }

  #runningCount(): number {
    return this.#live.size - this.#waitingCount()
  }

  #waitingCount(): number {
    return this.#queue.length + this.#leavingQueue.size
  }

  #repeat(
    key: string,
    fingerprint: string,
    earlier: { fingerprint: string; record: ExecutionRecord | null },
  ): Result<{ record: ExecutionRecord; repeated: boolean }, Failure> {
    if (earlier.fingerprint !== fingerprint) {
      const message = `The idempotency key ${JSON.stringify(key)} was used for another request.`
      return fail(failure("IDEMPOTENCY_MISMATCH", message))
    }
    if (earlier.record === null) {
      const message = `What was started with the key ${JSON.stringify(key)} has been removed.`
      return fail(failure("EXPIRED", message))
    }
    const record = this.#live.get(earlier.record.id)?.record ?? earlier.record
    return ok({ record, repeated: true })
  }

  #notLive(id: ExecutionId, verb: string): Result<never, Failure> {
    const state = this.#ports.store.find(id)?.state.kind
    if (state === undefined) {
      return fail(failure("PROCESS_NOT_FOUND", `There is no execution ${id}.`))
    }
    const why = state === "ended" ? "has ended" : `was left ${state}`
    const message = `Execution ${id} ${why}: ${verb} comes too late.`
    return fail(failure("WRONG_STATE", message, { state }))
  }
}
