import { ExecutionId as IdSchema } from "../execution/id.ts"
import { delay } from "../lib/delay.ts"
import { type Caller, localCaller } from "../service/access/caller.ts"
import type { Operations } from "../service/gateway/ports.ts"
import { Acceptance } from "./accept.ts"
import { AwaitedNodes } from "./awaited-nodes.ts"
import { EngineConnection } from "./engine-connection.ts"
import { createFleetOperations } from "./fleet-operations.ts"
import type { FleetPorts } from "./fleet-ports.ts"
import { type FleetTrouble, troubleText } from "./fleet-trouble.ts"
import { isGenuineLoss } from "./genuine-loss.ts"
import { IndexRecords } from "./index-records.ts"
import { lateTable } from "./late-table.ts"
import { Lease } from "./lease.ts"
import { Losses } from "./losses.ts"
import { type FleetTimes, fleetTimes, Members } from "./members.ts"
import { nodeOf } from "./node-of.ts"
import { nodeOperations } from "./node-operations.ts"
import { OwnEntry } from "./own-entry.ts"
import { Placing } from "./place.ts"
import { type LostPlacement, Placements } from "./placements.ts"
import { RemoteNodes } from "./remote-nodes.ts"
import { Report } from "./report.ts"
import { WatchedTables } from "./watched-tables.ts"

const slowestRetryMs = 10_000
const reconcileEveryMs = 3_600_000
/** The table of what was assigned and never taken is looked through by its node after this. */
const danglingBeats = 24

/**
 * This node's part in the fleet: its lease, what it tells, what it hears, and what it declares. The
 * engine is never the truth: when it is away, everything that runs goes on.
 */
export class Fleet implements AsyncDisposable {
  readonly #ports: FleetPorts
  readonly #times: FleetTimes
  readonly #lease: Lease
  readonly #report: Report
  readonly #acceptance: Acceptance
  readonly #placing: Placing
  readonly #remotes: RemoteNodes
  readonly #ended = new AbortController()
  readonly members: Members
  readonly placements: Placements
  readonly index: IndexRecords
  /** For the clients of this node. */
  readonly operations: Operations
  /** For other nodes: of this node alone. */
  readonly forNodes: Operations
  readonly #engine: EngineConnection
  readonly #watched: WatchedTables
  readonly #awaited: AwaitedNodes
  readonly #losses: Losses
  #epoch = 0
  readonly ownEntry: OwnEntry
  #running: Promise<void> | null = null

  constructor(ports: FleetPorts) {
    this.#ports = ports
    const { settings, local, journal, mirror, log, monotonicMs, authorities } = ports
    const { node } = settings
    this.#times = fleetTimes(settings.lostAfterMs)
    this.members = new Members(node, this.#times, monotonicMs)
    this.placements = new Placements(monotonicMs, isGenuineLoss(authorities, log), (id, entry) =>
      this.#wasLost(id, entry),
    )
    const tables = () => this.#engine.tables
    this.#engine = new EngineConnection({ ...ports, unsafe: settings.unsafe })
    this.ownEntry = new OwnEntry(ports, () => this.#liveCount())
    this.#awaited = new AwaitedNodes(this.members, settings.lostAfterMs, monotonicMs)
    const keyOf = (name: string) => this.members.find(name)?.entry.key ?? null
    const { placements, members } = this
    this.index = new IndexRecords({ self: node, mirror, placements, keyOf, authorities, log })
    this.#report = new Report({
      node,
      tables,
      journal,
      placements,
      index: this.index,
      epoch: () => this.#epoch,
      endLost: (id) => this.#endLost(id),
      log,
    })
    this.#lease = new Lease({
      node,
      instance: crypto.randomUUID(),
      times: this.#times,
      nodes: lateTable(() => tables()?.nodes ?? null),
      facts: () => this.ownEntry.facts(),
      monotonicMs,
      reassert: (epoch) => this.#reassert(epoch),
      wentBack: () => this.#wentBack(),
    })
    const danglingAfterMs = this.#times.beatMs * danglingBeats
    this.#losses = new Losses({
      ...ports,
      self: node,
      members,
      placements,
      tables,
      isUnderway: (id) => this.#acceptance.isUnderway(id),
      danglingAfterMs,
    })
    this.#watched = new WatchedTables({
      members,
      placements,
      index: this.index,
      heard: (name, entry) => {
        members.heard(name, entry)
        this.#awaited.heard(name, entry)
      },
      log,
      pauseMs: this.#times.beatMs,
    })
    this.#acceptance = new Acceptance({
      node,
      local,
      table: lateTable(() => tables()?.placements ?? null),
      placements,
      epoch: () => this.#lease.epoch(),
      hasRoom: () => this.#liveCount() < settings.slots,
      isDrained: () => members.orderFor(node)?.drained === true,
      declareLost: (id, known, why) => this.#losses.declare(id, known, why),
      started: (record) => this.#report.changed(record.id),
    })
    this.#remotes = new RemoteNodes(members, ports.openRemote, this.index)
    const accept: Operations["execute"] = (...asked) => this.#acceptance.accept(...asked)
    this.forNodes = { ...local, execute: accept }
    this.#placing = new Placing({
      self: node,
      members,
      placements,
      table: lateTable(() => tables()?.placements ?? null),
      keys: lateTable(() => tables()?.keys ?? null),
      executeOn: (name) => (name === node ? accept : this.#remotes.executeOn(name)),
      statusOn: (caller, name, id) =>
        name === node
          ? local.status(caller, id)
          : (this.#remotes.operations(name)?.status(caller, id) ??
            this.operations.status(caller, id)),
      obstacle: () => this.#obstacle(),
      newId: ports.newId,
      monotonicMs,
    })
    this.operations = createFleetOperations({
      self: node,
      local,
      remote: (name) => this.#remotes.operations(name),
      journal,
      mirror,
      members,
      placements,
      index: this.index,
      placing: this.#placing,
      nodeOf: (id) =>
        nodeOf(
          id,
          placements,
          lateTable(() => tables()?.placements ?? null),
        ),
      nodes: nodeOperations({
        self: node,
        members,
        authorities,
        tables,
        now: ports.now,
        engine: () => this.#engine.view(),
        missing: () => this.#obstacle(),
        declareNodeLost: (name, why) => this.#losses.declareNode(name, why),
      }),
    })
  }

  begin(): void {
    const watching = this.#ports.local.watch(everything, undefined, ({ id }) =>
      this.#report.changed(id),
    )
    if (watching.ok)
      this.#ended.signal.addEventListener("abort", () => watching.value[Symbol.dispose]())
    this.#running = this.#run().catch((err: unknown) => {
      this.#ports.log.error({ err }, "the fleet is given up: this node goes on alone")
    })
  }

  /** All that keeps this node from its part in the fleet. */
  troubles(): FleetTrouble[] {
    const { node } = this.#ports.settings
    if (this.#lease.state === "superseded") return ["fleet-name-taken"]
    if (this.members.orderFor(node)?.forgotten === true) return ["fleet-forgotten"]
    if (this.#engine.problems().length > 0) return ["fleet-engine-unsafe"]
    if (!this.#engine.answers) return ["fleet-engine-unreachable"]
    return this.#lease.epoch() === null ? ["fleet-not-joined"] : []
  }

  async #run(): Promise<void> {
    const { log, settings } = this.#ports
    const { beatMs } = this.#times
    let lastReconcileMs = Number.NEGATIVE_INFINITY
    let isTold = false
    while (!this.#ended.signal.aborted) {
      const isForgotten = this.members.orderFor(settings.node)?.forgotten === true
      if (isForgotten || !(await this.#engine.open())) {
        await delay(Math.min(slowestRetryMs, beatMs * 2), this.#ended.signal)
        continue
      }
      const { tables } = this.#engine
      if (tables !== null && !this.#watched.isWatching) await this.#watched.start(tables)
      const wasHeld = this.#lease.epoch() !== null
      const renewed = await this.#lease.renew()
      this.#engine.answers = renewed.ok || renewed.failure.kind === "conflict"
      if (this.#lease.state === "superseded") {
        log.error({ node: settings.node }, "another service has joined the fleet by this name")
        this.#watched.stop()
        return
      }
      if (renewed.ok) this.#awaited.renewed()
      else await this.#engine.makeTables()
      if (!renewed.ok && !isTold) log.warn({ reason: renewed.failure }, "lease not renewed")
      isTold = !renewed.ok
      const isHeld = this.#lease.epoch() !== null
      if (isHeld && !wasHeld) {
        log.info({ node: settings.node, epoch: this.#epoch }, "joined the fleet")
        lastReconcileMs = Number.NEGATIVE_INFINITY
      }
      if (isHeld && this.#ports.monotonicMs() - lastReconcileMs >= reconcileEveryMs) {
        lastReconcileMs = this.#ports.monotonicMs()
        void this.#report.reconcile()
      }
      if (isHeld) void this.#losses.lookAfter()
      await delay(beatMs, this.#ended.signal)
    }
  }

  #wasLost(id: string, entry: LostPlacement): void {
    const { settings, mirror } = this.#ports
    if (entry.node === settings.node) this.#endLost(id)
    this.index.lost(id, entry)
    const record = mirror.find(IdSchema.parse(id))
    if (record !== null) this.#remotes.lost(entry.node, record)
  }

  /** Others were told that it is lost: nothing of it may go on. */
  #endLost(id: string): void {
    const { local, log } = this.#ports
    const ending = local.control(everything, id, { type: "CANCEL" })
    const told = async () => {
      if ((await ending).ok) log.warn({ executionId: id }, "ended what was declared lost")
    }
    void told()
  }

  async #reassert(epoch: number): Promise<boolean> {
    this.#epoch = epoch
    return this.#report.reassert()
  }

  /** The engine is older than what this node knows: nothing is placed until all joined again. */
  #wentBack(): void {
    const { log, settings } = this.#ports
    log.error({}, "the fleet's engine has lost what it had acknowledged: nodes join it again")
    this.#awaited.begin(settings.node)
    this.placements.forgetLive()
    this.index.told.clear()
    this.#watched.stop()
  }

  #obstacle(): string | null {
    const [trouble] = this.troubles()
    if (trouble !== undefined) return troubleText[trouble]
    const awaited = this.#awaited.names().join(", ")
    if (awaited === "") return null
    return `its engine came back older than it was, and ${awaited} has not joined it again yet`
  }

  #liveCount(): number {
    const counts = Object.values(this.#ports.journal().countLive())
    return counts.reduce((sum, count) => sum + count, 0)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort()
    this.#watched.stop()
    this.#report[Symbol.dispose]()
    this.#remotes[Symbol.dispose]()
    await this.#running
    await this.#engine[Symbol.asyncDispose]()
  }
}

/** Looks after what it has started, and after nothing else. */
const everything: Caller = localCaller("fleet", "fleet")
