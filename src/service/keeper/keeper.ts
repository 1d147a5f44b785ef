import { descriptorsOf } from "../../execution/descriptor-needs.ts"
import type { HandedExecution } from "../../execution/handover.ts"
import type { ExecutionId } from "../../execution/id.ts"
import type { ExecutionRecord } from "../../execution/record.ts"
import type { StopCause } from "../../execution/state.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import type { AgentOptions } from "../../protocol/agent.ts"
import type { ExecuteParams } from "../../protocol/execute.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { HandedExecutions } from "../../protocol/handover.ts"
import type { KeeperParams } from "../../protocol/ipc.ts"
import type { ControlResult, InputResult } from "../../protocol/methods.ts"
import { Admission } from "./admission/admission.ts"
import { type DiskUse, shareOf } from "./admission/disk-use.ts"
import type { Starter } from "./admission/execution-slots.ts"
import { type HostPlan, hostStartOf, type Predecessor } from "./agents/agent-start.ts"
import { sessionInUse } from "./agents/session-in-use.ts"
import type { Workplace } from "./agents/workplace.ts"
import { carryOut, type Order } from "./carry-out.ts"
import { type Input, Inputs } from "./inputs.ts"
import type { KeeperPorts, KeeperSettings } from "./keeper-ports.ts"
import { type LiveEntry, LiveTable, type QueuedStart } from "./live-table.ts"
import { redactSpec } from "./redact.ts"
import { removeExecution } from "./remove-execution.ts"
import { containedStart } from "./starting/contained-start.ts"
import { nameInUse } from "./starting/name-in-use.ts"
import { newRecord, placeOf } from "./starting/new-record.ts"
import { sameAsPlanned } from "./starting/plan.ts"
import { Planner } from "./starting/planner.ts"
import { askedWithKey, repeatedStart } from "./starting/repeated-start.ts"
import {
  beingUpgraded,
  diskFull,
  hasRun,
  shuttingDown,
  startFailed,
} from "./starting/start-failed.ts"
import { Supervision } from "./supervision/supervision.ts"
import { tooLate } from "./supervision/wrong-state.ts"

/** Every live execution, and the only access to them. */
export class Keeper {
  readonly #settings: KeeperSettings
  readonly #ports: KeeperPorts
  readonly live = new LiveTable()
  readonly #admission: Admission<QueuedStart & { starter: Starter }>
  readonly #planner: Planner
  readonly #inputs = new Inputs()
  #isShuttingDown = false
  #isHandingOver = false

  constructor(settings: KeeperSettings, ports: KeeperPorts) {
    this.#settings = settings
    this.#ports = ports
    this.#planner = new Planner(settings.plan, ports)
    const shares = () => this.live.shares()
    this.#admission = new Admission(settings, ports.clock, shares, ports)
  }

  get disk(): DiskUse {
    return this.#admission.disk
  }

  get admission(): Pick<Admission<unknown>, "descriptors" | "inodes"> {
    return this.#admission
  }

  /**
   * Who follows what it starts drives it, until the gateway says otherwise: that may take a while,
   * and no lease must run out before.
   */
  start(
    starter: Starter,
    given: ExecuteParams,
    isFollowed = false,
    agentOptions: AgentOptions | null = null,
    predecessor: Predecessor | null = null,
    workplace: Workplace | null = null,
  ): Result<{ record: ExecutionRecord; repeated: boolean }, Failure> {
    const { principal } = starter
    const tooMany = this.#admission.rateRefusal(starter)
    if (tooMany !== null) return fail(tooMany)
    const { store, redaction } = this.#ports
    const asked = askedWithKey(principal, given, agentOptions, this.#ports)
    const repeated = asked && repeatedStart(asked, store, (id) => this.live.find(id)?.record)
    if (repeated !== null) return repeated
    if (this.#isShuttingDown) return shuttingDown
    if (this.#isHandingOver) return beingUpgraded
    const placed = workplace === null ? given : { ...given, cwd: workplace.cwd }
    const agent = agentOptions && this.#planner.agentStart(agentOptions, predecessor, workplace)
    const room = this.#admission.availability(starter, descriptorsOf(placed))
    if (!room.ok) return room
    const busy = agent && sessionInUse(agent, this.live, store)
    if (busy !== null) return fail(busy)
    const before = predecessor?.record ?? null
    const prepared = this.#ports.prepareStart(starter, placed, agentOptions, before)
    if (!prepared.ok) return prepared
    const { request, marks } = prepared.value
    const plan = this.#planner.plan(request, starter, agent)
    if (!plan.ok) return plan
    const recorded = redactSpec(plan.value.spec, redaction)
    const taken = nameInUse(recorded.spec, principal, this.live)
    if (taken !== null) return fail(taken)
    const mustWait = room.value === "waits"
    const record = newRecord({
      ...placeOf(given, () => this.#ports.newId()),
      principal,
      ranAs: plan.value.launch.user,
      ...recorded,
      ...marks,
      containment: this.#ports.spawner.containment,
      state: { kind: mustWait ? "queued" : "starting" },
      createdAt: this.#ports.clock.now().toISOString(),
    })
    const idempotency = asked && { ...asked, key: asked.key.kept }
    const create = () => store.create(record, idempotency, before)
    if (!this.#ports.withoutReserve(create)) return diskFull
    const supervision = this.#supervision(record)
    if (isFollowed) supervision.setDrivers(1, null)
    if (mustWait) {
      this.#queue(starter, { supervision, planned: plan.value.spec, request, agent })
      return ok({ record, repeated: false })
    }
    const slot = this.#admission.slots.acquire(starter)
    const started = this.#launch(supervision, plan.value)
    if (!started.ok) {
      slot.release()
      // Nothing refused was partly done: the attempt leaves no execution behind.
      const isUndone =
        !hasRun(started.failure) &&
        this.#ports.withReserve(() => store.withdraw(record.id, idempotency, before))
      if (!isUndone) void supervision.endUnstarted(startFailed(started.failure, redaction))
      return started
    }
    this.#enlist({ supervision, starter, slot, queuedStart: null })
    return ok({ record: started.value, repeated: false })
  }

  /** Takes what the program before this one has left. What cannot be taken is lost, or thrown. */
  adopt({ executions, queued }: HandedExecutions, canGoBack: boolean): void {
    for (const handed of executions) {
      const { record, exempt } = handed
      const supervision = this.#supervision(record)
      const starter = { principal: record.principal, exempt }
      const slot = this.#admission.slots.acquire(starter)
      this.#enlist({ supervision, starter, slot, queuedStart: null })
      this.#holdDescriptors(supervision)
      try {
        supervision.adopt(handed)
      } catch (error) {
        if (canGoBack) throw error
        // Nobody can go on with it: neither this program, nor the one before it.
        this.#ports.broke(record, error)
        this.#ports.spawner.endUnadopted(record.id, handed.child)
        const reason = `internal: it was not taken over: ${String(error)}`
        void supervision.endUnstarted({ kind: "lost", reason })
      }
    }
    for (const { record, exempt, ...waiting } of queued) {
      const supervision = this.#supervision(record)
      this.#queue({ principal: record.principal, exempt }, { supervision, ...waiting })
    }
  }

  /** Goes on with what it has adopted: from here on only this program can. */
  continueAdopted(executions: readonly HandedExecution[]): void {
    for (const handed of executions) this.live.find(handed.record.id)?.continueAdopted(handed)
    this.startQueued()
  }

  /** From now on nothing new starts, until it goes on here after all. */
  holdStarts(isHeld: boolean): void {
    this.#isHandingOver = isHeld
    if (!isHeld) this.startQueued()
  }

  async control(order: Order): Promise<Result<ControlResult, Failure>> {
    const { executionId: execution_id, type } = order
    const supervision = this.live.find(execution_id)
    if (supervision === null) return this.#notLive(execution_id, type)
    const cancel = () => this.cancel(supervision, "client")
    return carryOut(order, supervision.steering, cancel, this.#ports)
  }

  async input(params: Input): Promise<Result<InputResult, Failure>> {
    const supervision = this.live.find(params.executionId)
    if (supervision !== null) return this.#inputs.write(params, supervision)
    return this.#inputs.repeated(params) ?? this.#notLive(params.executionId, "write to")
  }

  /** To the host of an agent's session, in the name of a principal. */
  async order(
    { executionId, order }: Omit<KeeperParams<"order">, "origin">,
    principal: string,
  ): Promise<Result<Record<string, never>, Failure>> {
    const supervision = this.live.find(executionId)
    if (supervision === null) return this.#notLive(executionId, "give orders to")
    return supervision.order(principal, order)
  }

  resize(params: KeeperParams<"resize">): Result<Record<string, never>, Failure> {
    const supervision = this.live.find(params.executionId)
    if (supervision === null) return this.#notLive(params.executionId, "resize")
    return supervision.resize(params.size)
  }

  setDrivers({ executionId, principals, floor }: KeeperParams<"drivers">): void {
    const supervision = this.live.find(executionId)
    if (supervision === null) return
    const holders = principals.filter((one) => one === supervision.record.principal).length
    supervision.setDrivers(holders, floor)
  }

  /** The gateway is gone, and every driver with it. */
  forgetDrivers(): void {
    for (const supervision of this.live.all()) supervision.setDrivers(0, null)
  }

  async remove(id: ExecutionId): Promise<Result<Record<string, never>, Failure>> {
    return (await removeExecution(id, this.live, this.#ports)) ?? this.#notLive(id, "remove")
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
      this.#inputs.remember(supervision)
      this.disk.ended(shareOf(id, starter, supervision.transcriptFacts))
      slot.release()
      this.startQueued()
    })
  }

  #queue(starter: Starter, waiting: QueuedStart): void {
    const slot = this.#admission.slots.enqueue(starter, { ...waiting, starter })
    this.#enlist({ supervision: waiting.supervision, starter, slot, queuedStart: waiting })
  }

  /** Those for whom there is room; the others when something has ended, or this is called again. */
  startQueued(): void {
    while (!this.#isShuttingDown && !this.#isHandingOver) {
      if (!this.#admission.machineHasRoom()) return
      const waiting = this.#admission.slots.admitNext()
      if (waiting === null) return
      const { supervision, planned, request, starter, agent } = waiting
      const started = containedStart(supervision, this.#ports, () => {
        supervision.apply({ kind: "admitted" })
        // Files may have changed.
        const plan = sameAsPlanned(planned, this.#planner.plan(request, starter, agent))
        return plan.ok ? this.#launch(supervision, plan.value) : plan
      })
      if (!started.ok)
        void supervision.endUnstarted(startFailed(started.failure, this.#ports.redaction))
    }
  }

  #launch(supervision: Supervision, plan: HostPlan): Result<ExecutionRecord, Failure> {
    const executionId = supervision.record.id
    const host = plan.host && hostStartOf(plan.host, executionId)
    const start = () => supervision.start({ ...plan.launch, executionId }, host)
    const started = containedStart(supervision, this.#ports, start)
    if (started.ok) this.#holdDescriptors(supervision)
    return started
  }

  #holdDescriptors(supervision: Supervision): void {
    const held = this.#admission.descriptors.hold(descriptorsOf(supervision.record.spec))
    void supervision.ended.then(() => held[Symbol.dispose]())
  }

  #notLive(id: ExecutionId, verb: string): Result<never, Failure> {
    return tooLate(id, this.#ports.store.find(id), verb)
  }
}
