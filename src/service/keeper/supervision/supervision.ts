import type { HandedExecution } from "../../../execution/handover.ts"
import type { ExecutionRecord, Position } from "../../../execution/record.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import { type ExecutionEvent, transition } from "../../../execution/state.ts"
import { messageOf } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { AgentOrder, HostStart } from "../../../protocol/agent-orders.ts"
import { type Failure, withDetails } from "../../../protocol/failure.ts"
import type { InputResult } from "../../../protocol/methods.ts"
import type { AgentChannelEvents } from "../agents/agent-channel.ts"
import { agentEvents, orderAgent } from "../agents/agent-events.ts"
import type { Child, Launch, TranscriptWriter } from "../ports.ts"
import { retriedWhileShort, retryingClock } from "../shortages.ts"
import { whyNotStarted } from "../starting/start-failed.ts"
import { currentRecord } from "./current-record.ts"
import { leavesNothing, readToTheEnd } from "./draining.ts"
import { endedRecord } from "./ended-record.ts"
import type { InputBefore, InputQueue, InputRequest } from "./input-queue.ts"
import type { Recorded } from "./recorder.ts"
import { recorderEvents } from "./recorder-events.ts"
import { RunningClocks } from "./running-clocks.ts"
import { type Steered, Steering } from "./steering.ts"
import { inputBefore, SupervisedChild } from "./supervised-child.ts"
import type { SupervisionPorts, SupervisionSettings } from "./supervision-ports.ts"
import { agentTakesTurns, noInput, noTerminal, wrongState } from "./wrong-state.ts"

/** Runs one execution from its start to its end, and is the only one to change its record. */
export class Supervision implements Steered {
  readonly steering: Steering
  readonly #ended = Promise.withResolvers<ExecutionRecord>()
  /** Resolves, and never rejects, with the record of the end. */
  readonly ended = this.#ended.promise
  readonly #ports: SupervisionPorts
  readonly #settings: SupervisionSettings
  readonly #isRead = Promise.withResolvers<void>()
  readonly #clocks: RunningClocks
  #record: ExecutionRecord
  #child: Child | null = null // from its start until its end
  #supervised: SupervisedChild | null = null // from its start on

  constructor(record: ExecutionRecord, settings: SupervisionSettings, ports: SupervisionPorts) {
    this.#record = record
    this.#settings = settings
    // What a timer of this execution throws is this execution's affair.
    const clock = retryingClock(ports.clock, (error) => this.steering.broke(error))
    this.#ports = { ...ports, clock }
    this.#clocks = new RunningClocks(record.spec, clock, (cause) => void this.steering.stop(cause))
    this.steering = new Steering(this, settings, clock, this.#clocks)
  }

  /** Resolves when its output is read, or never will be. */
  get isRead(): Promise<void> {
    if (this.#record.state.kind === "queued") return Promise.resolve()
    return Promise.race([this.#isRead.promise, this.ended.then(() => undefined)])
  }

  get child(): Child | null {
    return this.#child
  }

  get record(): ExecutionRecord {
    return currentRecord(this.#record, this.#clocks, this.#supervised)
  }

  /** What advances with every read: cheaper than the whole record. */
  get transcriptFacts() {
    return this.#supervised?.transcript?.facts() ?? this.#record.transcript
  }

  /** Spawns the child. Where that fails, the record is left as it was: `starting`. */
  start(launch: Launch, agent: HostStart | null = null): Result<ExecutionRecord, Failure> {
    const { clock, transcripts } = this.#ports
    const { id, spec } = this.#record
    const spawned = this.#ports.spawner.spawn(launch)
    if (!spawned.ok) return fail(whyNotStarted(id, spawned.failure))
    const child = spawned.value
    const transcript = transcripts.create(id, spec.budget, this.#journalNow)
    const supervised = this.#setChild(child)
    this.#record = { ...this.#record, leader: child.leader, startedAt: clock.now().toISOString() }
    this.#clocks.start()
    this.steering.lease?.begin()
    if (agent !== null) {
      supervised.hostAgent(clock, this.#agentEvents())
      // What fails here is told by the end of the host, which has nothing to do without it.
      void supervised.agent?.order(this.#record.principal, { order: "start", start: agent })
    }
    this.#supervise(supervised, transcript).catch((error: unknown) => this.#broken(child, error))
    return ok(this.record)
  }

  /** Takes an execution of the program before this one, and leaves it as it is; or throws. */
  adopt(handed: HandedExecution): void {
    const { spec, state, stdinBytes: taken } = this.#record
    const exit = state.kind === "draining" ? state.exit : null
    const { terminal } = spec
    const child = this.#ports.spawner.adopt(this.#record.id, handed.child, { terminal, exit })
    this.#setChild(child, inputBefore(handed, taken, this.#record.transcript))
  }

  /** Goes on with what it has adopted: from here on only this program can. */
  continueAdopted(handed: HandedExecution): void {
    const { state } = this.#record
    const supervised = this.#supervised
    if (supervised === null) return // it is lost
    const { child } = supervised
    supervised.hostAgent(this.#ports.clock, this.#agentEvents(), handed.agentHeld)
    this.#clocks.start(handed.clocks, state.kind === "paused")
    this.#clocks.setBlocked(true) // until somebody reads again
    // A freeze that was under way has nobody left to wait for it.
    if (state.kind === "running") child.tree.thaw()
    this.steering.lease?.begin()
    this.#continue(supervised, handed).catch((error: unknown) => this.#broken(child, error))
  }

  /** Leaves it to the program that takes this process over; resolves when nothing is in hand. */
  async release(): Promise<void> {
    const child = this.#child
    if (child === null) return
    await this.#supervised?.release().catch((error: unknown) => this.#broken(child, error))
  }

  /** What that program needs to go on; null as long as something else has to happen first. */
  handOver(): Omit<HandedExecution, "exempt"> | null {
    if (this.#child === null) return null // it is being ended
    const parts = this.#supervised?.handOver() ?? null
    const isExitKnown = this.#child.hasBeenWaitedFor()
    if (isExitKnown && this.#record.state.kind !== "draining") return null // it soon will be
    return parts && { record: this.record, clocks: this.#clocks.handOver(), ...parts }
  }

  /** Whether nothing is under way that only this program can finish. */
  get canBeReleased(): boolean {
    if (this.#record.state.kind === "queued") return true
    const isRecording = this.#child !== null && this.#supervised?.recorder !== null
    return isRecording && this.steering.isIdle
  }

  /** Whether nothing is under way at all. */
  get isAtRest(): boolean {
    const { kind } = this.#record.state
    const isQuiet = kind === "queued" || kind === "running" || kind === "paused"
    return isQuiet && this.canBeReleased
  }

  readonly endUnstarted = (event: ExecutionEvent): Promise<void> => this.#end(event)

  /** Null before its start, and where it has none. */
  get input(): InputQueue | null {
    return this.#supervised?.input ?? null
  }

  /** For the host of its agent; answered when it was carried out. */
  order(by: string, order: AgentOrder): Promise<Result<Record<string, never>, Failure>> {
    const channel = this.#child === null ? null : (this.#supervised?.agent ?? null)
    return orderAgent(this.#record, channel, by, order)
  }

  async write(request: InputRequest): Promise<Result<InputResult, Failure>> {
    if (this.#record.spec.agent !== undefined) return agentTakesTurns(this.#record.state)
    if (this.#child === null) {
      return this.input?.repeated(request) ?? wrongState(this.#record.state, "given input")
    }
    const taken = await this.input?.write(request)
    if (taken === undefined) return noInput(this.#record.state)
    if (taken.ok || taken.failure.reason !== "WRONG_STATE") return taken
    return fail(withDetails(taken.failure, { state: this.#record.state.kind }))
  }

  resize(size: TerminalSize): Result<Record<string, never>, Failure> {
    const { spec, state } = this.#record
    if (this.#child === null) return wrongState(state, "resized")
    if (spec.terminal === null) return noTerminal(state)
    if (size.cols === spec.terminal.cols && size.rows === spec.terminal.rows) return ok({})
    this.#supervised?.resize(size, this.#ports.clock.now())
    this.#ports.advanced(this.#record.id, 0)
    this.#record = { ...this.#record, spec: { ...spec, terminal: size } }
    return ok({})
  }

  /** Who holds the lease of `on_disconnect: cancel`, and what every driver has taken. */
  setDrivers(holders: number, floor: Position | null): void {
    this.steering.lease?.setHolders(holders)
    this.#supervised?.setFloor(floor)
  }

  #agentEvents(): AgentChannelEvents {
    return agentEvents(this, this.#ports, (agent) => {
      this.#record = { ...this.#record, agent }
    })
  }

  readonly #told = (error: unknown) => this.#ports.broke(this.record, error)
  readonly #journalNow = () => this.#ports.journal(null, this.record)

  #setChild(child: Child, before?: InputBefore): SupervisedChild {
    this.#child = child
    this.#supervised = new SupervisedChild(child, () => this.#clocks.active(), before)
    return this.#supervised
  }

  async #continue(supervised: SupervisedChild, handed: HandedExecution): Promise<void> {
    const { id, spec, state, transcript: facts } = this.#record
    const written = { ...handed.transcript, facts }
    const { clock, transcripts } = this.#ports
    const resume = () => transcripts.resume(id, spec.budget, written, this.#journalNow)
    const transcript = await retriedWhileShort(clock, resume)
    this.#clocks.setBlocked(false)
    const isStopped =
      state.kind === "stopping" || (state.kind === "draining" && state.cause !== null)
    if (isStopped) void this.steering.stopRest(supervised.child)
    await this.#supervise(supervised, transcript, handed)
  }

  async #supervise(
    supervised: SupervisedChild,
    transcript: TranscriptWriter,
    before?: Recorded,
  ): Promise<void> {
    const { child } = supervised
    this.apply({ kind: "started", pid: child.leader.pid })
    const { spec } = this.#record
    const settings = { ...spec, ...this.#settings, redaction: this.#ports.redaction }
    const { clock } = this.#ports
    const events = recorderEvents(this, this.#clocks, this.#ports, supervised, (blocked) => {
      this.#record = { ...this.#record, blocked }
    })
    const recorder = supervised.record(transcript, settings, clock, events, before)
    this.#isRead.resolve()
    const exit = await Promise.race([child.exited, this.steering.unkillable, recorder.failed])
    this.#clocks.stop()
    supervised.input?.close()
    if (Array.isArray(exit)) {
      this.#record = { ...this.#record, survivors: exit }
      await recorder.abandon()
      return this.#end({ kind: "lost", reason: "SIGKILL did not end it: see the survivors" })
    }
    // Kills by the machine's own memory killer are counted there too: those are no limit's doing.
    const isLimited = exit.kind === "signaled" && this.#record.spec.limits.memoryBytes !== null
    const isTooLarge = isLimited && (await retriedWhileShort(clock, () => child.ranOutOfMemory()))
    if (isTooLarge) this.apply({ kind: "stop-requested", cause: "out-of-memory" })
    const exited = { kind: "leader-exited", exit } as const
    const isAllOver = await leavesNothing(child.tree, recorder, clock)
    const { wasStopped } = this.steering
    if (isAllOver && !wasStopped) return this.#end(exited, { kind: "emptied" })
    this.apply(exited)
    const report = await this.steering.emptyTree(child)
    await readToTheEnd(recorder, this.#settings.lingerMs, clock, this.steering.hurried)
    this.#record = {
      ...this.#record,
      survivors: report.survivors,
      ...(wasStopped ? { stopped: report.stopped } : { killedAfterExit: report.stopped }),
    }
    await this.#end({ kind: "emptied" })
  }

  /** Must not fail itself: whoever waits for the end would wait for ever. */
  async #broken(child: Child, error: unknown): Promise<void> {
    this.#told(error)
    this.#isRead.resolve()
    const report = await this.steering.stopBroken(child, this.#told)
    await this.#supervised?.recorder?.abandon()
    this.#clocks.stop()
    this.#record = { ...this.#record, ...report }
    await this.#end({ kind: "lost", reason: `internal: ${messageOf(error)}` }).catch(this.#told)
    this.#ended.resolve(this.record)
  }

  /** Order: the last byte, on disk; the end, journaled with its receipt; then everybody is told. */
  async #end(...events: ExecutionEvent[]): Promise<void> {
    this.steering.lease?.[Symbol.dispose]()
    const { clock } = this.#ports
    const transcript = this.#supervised?.transcript ?? null
    await this.#supervised?.sync(clock).catch(this.#told)
    const child = this.#child
    const ending = {
      use: child === null ? this.#record.use : await retriedWhileShort(clock, () => child.use()),
      hashes: transcript?.hashes() ?? null,
      survivors: this.#record.survivors,
      endedAt: clock.now().toISOString(),
    }
    const record = endedRecord(this.record, events, ending, this.#ports.redaction)
    this.#supervised?.agent?.close()
    if (child !== null) await retriedWhileShort(clock, () => child[Symbol.dispose]())
    this.#child = null
    await this.#ports.journalEnd(events, record)
    this.#record = record
    transcript?.[Symbol.dispose]()
    this.#ports.changed(record)
    this.#ended.resolve(record)
  }

  apply(event: ExecutionEvent): void {
    const state = transition(this.#record.state, event)
    if (state === this.#record.state) return
    const record = { ...this.record, state }
    this.#ports.journal(event, record)
    this.#record = record
    this.#ports.changed(record)
  }
}
