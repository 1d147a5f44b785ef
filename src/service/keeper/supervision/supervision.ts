import type { HandedExecution } from "../../../execution/handover.ts"
import type { ExecutionRecord, Position, Survivor } from "../../../execution/record.ts"
import type { TerminalSize } from "../../../execution/spec.ts"
import { type ExecutionEvent, type StopCause, transition } from "../../../execution/state.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import { type Failure, failure, withDetails } from "../../../protocol/failure.ts"
import type { InputResult } from "../../../protocol/methods.ts"
import type { Child, Launch, TranscriptWriter } from "../ports.ts"
import { leavesNothing, lingerUntilEmpty, readToTheEnd } from "./draining.ts"
import { endedRecord } from "./ended-record.ts"
import { Lease } from "./lease.ts"
import type { Recorded, RecorderEvents } from "./recorder.ts"
import { RunningClocks } from "./running-clocks.ts"
import { nothingStopped, type StopReport, stopAtAnyRate, stopTree } from "./stopping.ts"
import { SupervisedChild } from "./supervised-child.ts"
import type { SupervisionPorts, SupervisionSettings } from "./supervision-ports.ts"
import { noInput, noTerminal, wrongState } from "./wrong-state.ts"

/** Runs one execution from its start to its end, and is the only one to change its record. */
export class Supervision {
  readonly #ended = Promise.withResolvers<ExecutionRecord>()
  readonly #ports: SupervisionPorts
  readonly #settings: SupervisionSettings
  readonly #hurry = new AbortController()
  readonly #isRead = Promise.withResolvers<void>()
  readonly #unkillable = Promise.withResolvers<Survivor[]>()
  readonly #clocks: RunningClocks
  readonly #lease: Lease | null
  #record: ExecutionRecord
  #child: Child | null = null // from its start until its end
  #supervised: SupervisedChild | null = null // from its start on
  #stop: Promise<StopReport> | null = null
  /** One steering at a time: a freeze, a thaw and a stop never work against each other. */
  readonly #queue = new SerialQueue()

  constructor(record: ExecutionRecord, settings: SupervisionSettings, ports: SupervisionPorts) {
    this.#record = record
    this.#settings = settings
    this.#ports = ports
    this.#clocks = new RunningClocks(record.spec, ports.clock, (cause) => void this.stop(cause))
    const isLeased = record.spec.onDisconnect === "cancel"
    const leaseEnds = () => void this.stop("disconnected")
    this.#lease = isLeased ? new Lease(ports.clock, settings.disconnectLeaseMs, leaseEnds) : null
  }

  /** Resolves, and never rejects, with the record of the end. */
  get ended(): Promise<ExecutionRecord> {
    return this.#ended.promise
  }

  /** Resolves when its output is read, or never will be. */
  get isRead(): Promise<void> {
    return this.#record.state.kind === "queued" ? Promise.resolve() : this.#isRead.promise
  }

  /** Whether its child is there, which is cheaper to ask than the whole record. */
  get isLive(): boolean {
    return this.#child !== null
  }

  get record(): ExecutionRecord {
    return {
      ...this.#record,
      ...this.#clocks.read(),
      transcript: this.transcriptFacts,
      redacted: this.#record.redacted && {
        ...this.#record.redacted,
        ...this.#supervised?.recorder?.redacted,
      },
      stdinBytes: this.#supervised?.input?.taken ?? 0,
    }
  }

  /** What advances with every read: cheaper than the whole record. */
  get transcriptFacts() {
    return this.#supervised?.transcript?.facts() ?? this.#record.transcript
  }

  /** Spawns the child. Where that fails, the record is left as it was: `starting`. */
  start(launch: Launch): Result<ExecutionRecord, Failure> {
    const { clock, transcripts } = this.#ports
    const { id, spec } = this.#record
    const spawned = this.#ports.spawner.spawn(launch)
    if (!spawned.ok) {
      const { errno, message } = spawned.failure
      return fail(failure("SPAWN_FAILED", `Could not start: ${message}.`, { errno }))
    }
    const child = spawned.value
    const transcript = transcripts.create(id, spec.budget, () =>
      this.#ports.journal(null, this.record),
    )
    const supervised = this.#setChild(new SupervisedChild(child, () => this.#clocks.active()))
    this.#record = { ...this.#record, leader: child.leader, startedAt: clock.now().toISOString() }
    this.#clocks.start()
    this.#lease?.begin()
    this.#supervise(supervised, transcript).catch((error: unknown) => this.#broken(child, error))
    return ok(this.record)
  }

  /** Goes on with an execution that the program before this one has started. */
  adopt(handed: HandedExecution): void {
    try {
      this.#adopt(handed)
    } catch (error) {
      // Its child has been ended: nobody could look after it.
      this.#ports.broke(this.record, error)
      this.#isRead.resolve()
      void this.#end({ kind: "lost", reason: `internal: it was not taken over: ${String(error)}` })
    }
  }

  #adopt(handed: HandedExecution): void {
    const { spec, state, stdinBytes: taken } = this.#record
    const exit = state.kind === "draining" ? state.exit : null
    const { terminal } = spec
    const child = this.#ports.spawner.adopt(this.#record.id, handed.child, { terminal, exit })
    const before = { taken, isClosed: handed.isInputClosed }
    const supervised = this.#setChild(
      new SupervisedChild(child, () => this.#clocks.active(), before),
    )
    this.#clocks.start(handed.clocks, state.kind === "paused")
    this.#clocks.setBlocked(true) // until somebody reads again
    // A freeze that was under way has nobody left to wait for it.
    if (state.kind === "running") child.tree.thaw()
    this.#lease?.begin()
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
    return isRecording && this.#queue.isIdle
  }

  /** Whether nothing is under way at all. */
  get isAtRest(): boolean {
    const { kind } = this.#record.state
    const isQuiet = kind === "queued" || kind === "running" || kind === "paused"
    return isQuiet && this.canBeReleased
  }

  /** The end of an execution that never ran. */
  endUnstarted(event: ExecutionEvent): Promise<void> {
    return this.#end(event)
  }

  admit(): void {
    this.#apply({ kind: "admitted" })
  }

  pause(): Promise<Result<ExecutionRecord, Failure>> {
    return this.#queue.run(async () => {
      const { kind } = this.#record.state
      if (kind === "paused") return ok(this.record)
      if (kind !== "running" || this.#child === null)
        return wrongState(this.#record.state, "paused")
      await this.#child.tree.freeze()
      // It may have ended, or been told to stop, while the freeze was under way.
      if (this.#record.state.kind !== "running") {
        this.#child.tree.thaw()
        return wrongState(this.#record.state, "paused")
      }
      this.#clocks.pause()
      this.#apply({ kind: "paused" })
      return ok(this.record)
    })
  }

  resume(): Promise<Result<ExecutionRecord, Failure>> {
    return this.#queue.run(async () => {
      const { kind } = this.#record.state
      if (kind === "running") return ok(this.record)
      if (kind !== "paused" || this.#child === null)
        return wrongState(this.#record.state, "resumed")
      this.#child.tree.thaw()
      this.#clocks.resume()
      this.#apply({ kind: "resumed" })
      return ok(this.record)
    })
  }

  /** Answers how many processes it reached. */
  signal(signal: number): Result<number, Failure> {
    const child = this.#child
    if (child === null) return wrongState(this.#record.state, "signaled")
    return ok(child.tree.signal(signal))
  }

  async write(
    data: Uint8Array,
    end: boolean,
    offset: number | undefined,
  ): Promise<Result<InputResult, Failure>> {
    if (this.#child === null) return wrongState(this.#record.state, "given input")
    const input = this.#supervised?.input ?? null
    if (input === null) return noInput(this.#record.state)
    const taken = await input.write(data, end, offset)
    if (taken.ok || taken.failure.reason !== "WRONG_STATE") return taken
    return fail(withDetails(taken.failure, { state: this.#record.state.kind }))
  }

  resize(size: TerminalSize): Result<Record<string, never>, Failure> {
    const { spec, state } = this.#record
    if (this.#child === null) return wrongState(state, "resized")
    if (spec.terminal === null) return noTerminal(state)
    this.#supervised?.resize(size, this.#ports.clock.now())
    this.#record = { ...this.#record, spec: { ...spec, terminal: size } }
    return ok({})
  }

  /** Who holds the lease of `on_disconnect: cancel`, and what every driver has taken. */
  setDrivers(holders: number, floor: Position | null): void {
    this.#lease?.setHolders(holders)
    this.#supervised?.setFloor(floor)
  }

  /** Ends the tree; the report comes when it is gone. Asked again, the first stop answers. */
  stop(cause: StopCause): Promise<StopReport> {
    const child = this.#child
    if (child === null) return Promise.resolve(nothingStopped)
    // Once it is stopping, whoever would steer it is refused at once.
    this.#stop ??= this.#queue.runAfterQueued(() => this.#stopTree(child, cause))
    this.#stop.catch(this.#unkillable.reject)
    return this.#stop
  }

  /** Ends the grace of a stop that is under way, or of one to come. */
  hurry(): void {
    this.#hurry.abort()
  }

  #setChild(supervised: SupervisedChild): SupervisedChild {
    this.#child = supervised.child
    this.#supervised = supervised
    return supervised
  }

  async #continue(supervised: SupervisedChild, handed: HandedExecution): Promise<void> {
    const { id, spec, state, transcript: facts } = this.#record
    const { child } = supervised
    const written = { ...handed.transcript, facts }
    const transcript = await this.#ports.transcripts.resume(id, spec.budget, written, () =>
      this.#ports.journal(null, this.record),
    )
    this.#clocks.setBlocked(false)
    const isStopped =
      state.kind === "stopping" || (state.kind === "draining" && state.cause !== null)
    if (isStopped) this.#stop ??= this.#stopTree(child, null)
    await this.#supervise(supervised, transcript, handed)
  }

  async #supervise(
    supervised: SupervisedChild,
    transcript: TranscriptWriter,
    before?: Recorded,
  ): Promise<void> {
    const { child } = supervised
    this.#apply({ kind: "started", pid: child.leader.pid })
    const { spec } = this.#record
    const settings = { ...spec, ...this.#settings, redaction: this.#ports.redaction }
    const { clock } = this.#ports
    const recorder = supervised.record(transcript, settings, clock, this.#recorderEvents(), before)
    this.#isRead.resolve()
    const exit = await Promise.race([child.exited, this.#unkillable.promise, recorder.failed])
    this.#clocks.stop()
    supervised.input?.close()
    if (Array.isArray(exit)) {
      this.#record = { ...this.#record, survivors: exit }
      await recorder.abandon()
      return this.#end({ kind: "lost", reason: "SIGKILL did not end it: see the survivors" })
    }
    // Kills by the machine's own memory killer are counted there too: those are no limit's doing.
    const isLimited = exit.kind === "signaled" && this.#record.spec.limits.memoryBytes !== null
    const isTooLarge = isLimited && child.ranOutOfMemory()
    if (isTooLarge) this.#apply({ kind: "stop-requested", cause: "out-of-memory" })
    const exited = { kind: "leader-exited", exit } as const
    const isAllOver = await leavesNothing(child.tree, recorder)
    const wasStopped = this.#stop !== null
    if (isAllOver && !wasStopped) return this.#end(exited, { kind: "emptied" })
    this.#apply(exited)
    const report = await this.#emptyTree(child)
    await readToTheEnd(recorder, this.#settings.lingerMs, clock, this.#hurry.signal)
    this.#record = {
      ...this.#record,
      survivors: report.survivors,
      ...(wasStopped ? { stopped: report.stopped } : { killedAfterExit: report.stopped }),
    }
    await this.#end({ kind: "emptied" })
  }

  /** What outlived the leader may finish within the linger; then it is ended too. */
  async #emptyTree(child: Child): Promise<StopReport> {
    const isEmpty = await lingerUntilEmpty(child.tree, this.#ports.clock, {
      lingerMs: this.#settings.lingerMs,
      isOver: () => this.#stop !== null,
      hurry: this.#hurry.signal,
    })
    if (isEmpty) return nothingStopped
    this.#stop ??= this.#stopTree(child, null)
    return this.#stop
  }

  async #stopTree(child: Child, cause: StopCause | null): Promise<StopReport> {
    this.#clocks.disarm()
    if (this.#record.state.kind === "paused") this.#clocks.resume()
    if (cause !== null) this.#apply({ kind: "stop-requested", cause })
    const order = { ...this.#settings, hurry: this.#hurry.signal }
    const report = await stopTree(child.tree, order, this.#ports.clock)
    const isUnkillable = report.survivors.some(({ pid }) => pid === child.leader.pid)
    if (isUnkillable) this.#unkillable.resolve(report.survivors)
    return report
  }

  #recorderEvents(): RecorderEvents {
    const { id } = this.#record
    return {
      advanced: (bytes) => {
        if (bytes > 0) this.#clocks.active()
        this.#ports.advanced(id, bytes)
      },
      blockedChanged: (blocked) => {
        this.#clocks.setBlocked(blocked)
        this.#record = { ...this.#record, blocked }
        this.#ports.changed(this.record)
      },
      diskFull: () => void this.stop("disk-full"),
      outputLimit: () => void this.stop("output-limit"),
    }
  }

  /** Must not fail itself: whoever waits for the end would wait for ever. */
  async #broken(child: Child, error: unknown): Promise<void> {
    const told = (failed: unknown) => this.#ports.broke(this.record, failed)
    told(error)
    this.#isRead.resolve()
    this.#stop = stopAtAnyRate(child, this.#settings.killLimitMs, this.#ports.clock, told)
    const report = await this.#stop
    await this.#supervised?.recorder?.abandon()
    this.#clocks.stop()
    this.#record = { ...this.#record, ...report }
    const why = error instanceof Error ? error.message : String(error)
    await this.#end({ kind: "lost", reason: `internal: ${why}` }).catch(told)
    this.#ended.resolve(this.record)
  }

  /** Order: the last byte, on disk; the end, journaled with its receipt; then everybody is told. */
  async #end(...events: ExecutionEvent[]): Promise<void> {
    this.#lease?.[Symbol.dispose]()
    const transcript = this.#supervised?.transcript ?? null
    await transcript?.sync().catch((error: unknown) => this.#ports.broke(this.record, error))
    const ending = {
      use: this.#child?.use() ?? this.#record.use,
      hashes: transcript?.hashes() ?? null,
      survivors: this.#record.survivors,
      endedAt: this.#ports.clock.now().toISOString(),
    }
    const record = endedRecord(this.record, events, ending, this.#ports.redaction)
    this.#child?.[Symbol.dispose]()
    this.#child = null
    await this.#ports.journalEnd(events, record)
    this.#record = record
    transcript?.[Symbol.dispose]()
    this.#ports.changed(record)
    this.#ended.resolve(record)
  }

  #apply(event: ExecutionEvent): void {
    const state = transition(this.#record.state, event)
    if (state === this.#record.state) return
    const record = { ...this.record, state }
    this.#ports.journal(event, record)
    this.#record = record
    this.#ports.changed(record)
  }
}
