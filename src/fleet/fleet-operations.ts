import type { ExecutionId } from "../execution/id.ts"
import { ExecutionId as IdSchema } from "../execution/id.ts"
import { type ExecutionRecord, hasEnded, hasLabels } from "../execution/record.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import { viewOf } from "../protocol/execution-view.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { Caller } from "../service/access/caller.ts"
import { maySee, permit, scopeOf } from "../service/access/permission.ts"
import type { NodeOperations } from "../service/gateway/node-operations.ts"
import { ownedOf } from "../service/gateway/operations/owned.ts"
import type {
  Answer,
  DrivenFeed,
  JournalReader,
  Operations,
  OutputFeed,
} from "../service/gateway/ports.ts"
import { fleetAgents } from "./fleet-agents.ts"
import { callerInFleet, viewerInFleet } from "./fleet-caller.ts"
import { unreachableNode } from "./fleet-failures.ts"
import { identifyInFleet, notFound } from "./identify-in-fleet.ts"
import type { IndexRecords } from "./index-records.ts"
import { listOfBoth } from "./list-of-both.ts"
import type { Members } from "./members.ts"
import type { Mirror } from "./mirror-port.ts"
import type { Placing } from "./place.ts"
import { lostRecord, type Placements } from "./placements.ts"

export type FleetOperationPorts = {
  self: string
  local: Operations
  /** Of another node; null while it cannot be reached. */
  remote: (node: string) => Operations | null
  journal: () => JournalReader
  mirror: Mirror
  members: Members
  placements: Placements
  index: IndexRecords
  placing: Placing
  nodes: NodeOperations
  /** The node of what was started so lately that it has not told of it. */
  nodeOf: (id: ExecutionId) => Promise<string | null>
}

/** Where an execution is, and by which id it is known there. */
type Place = { at: Operations; id: string; node: string }

/**
 * One service out of many: the same operations, for executions of every node. What is this node's
 * own is answered here; everything else is asked of its node, in the caller's name.
 */
export function createFleetOperations(ports: FleetOperationPorts): Operations {
  const { self, local, remote, mirror, members, placements, index, placing } = ports
  /** A feed is driven where it was opened. */
  const openedBy = new WeakMap<DrivenFeed, Operations>()

  const operations: Operations = {
    policy: local.policy,
    trials: local.trials,
    notify: local.notify,
    nodes: ports.nodes,
    agents: fleetAgents({ local: local.agents, onNodeOf: on, others: otherNodes }),

    async execute(caller, params, follow) {
      const permitted = permit(caller, scopeOf.execute)
      if (!permitted.ok) return permitted
      if (params.placed !== undefined) {
        return fail(failure("INVALID_PARAMS", "`placed` is for nodes of a fleet."))
      }
      // A trial is of the node that keeps it.
      if (params.trial !== undefined) return local.execute(caller, params, follow)
      return placing.execute(caller, params, follow)
    },

    control: (caller, given, order) =>
      on(caller, given, ({ at, id }) => at.control(caller, id, order)),
    input: (caller, given, input) => on(caller, given, ({ at, id }) => at.input(caller, id, input)),
    resize: (caller, given, size) => on(caller, given, ({ at, id }) => at.resize(caller, id, size)),
    remove: (caller, given) => on(caller, given, ({ at, id }) => at.remove(caller, id)),

    async list(caller, params) {
      const permitted = permit(caller, scopeOf.list)
      if (!permitted.ok) return permitted
      const own = async (asked: typeof params) => {
        const page = await local.list(caller, asked)
        return page.ok
          ? ok({ ...page.value, executions: page.value.executions.map(withLoss) })
          : page
      }
      const viewer = viewerInFleet(caller, self)
      const seen = (record: ExecutionRecord) => viewOf(asHeard(record))
      return listOfBoth(params, own, mirror, viewer, seen)
    },

    async status(caller, given) {
      const place = await find(caller, given)
      if (!place.ok) return place
      const { at, id, node } = place.value
      if (node === self) {
        const found = await local.status(caller, id)
        return found.ok ? ok(withOwnLoss(found.value)) : found
      }
      const known = mirrored(caller, id)
      if (known !== null && hasEnded(known)) return ok(known)
      const asked = members.isReachable(node) ? await at.status(caller, id) : null
      if (asked?.ok) return ok(onNode(asked.value, node))
      if (known !== null) return ok(asHeard(known))
      return asked ?? fail(unreachableNode(node))
    },

    async receipt(caller, given) {
      const place = await find(caller, given)
      if (!place.ok) return place
      const { at, id, node } = place.value
      const permitted = permit(caller, scopeOf.receipt)
      if (!permitted.ok) return permitted
      const known = node === self ? null : mirrored(caller, id)
      const lost = placements.lost(id)
      const sees = known !== null || (node === self && (await local.status(caller, id)).ok)
      if (lost !== null && sees) {
        const evidence =
          node === self ? ports.journal().receipt(idOf(id)) : mirror.receipt(idOf(id))
        const message = `Execution ${id} was declared lost: no receipt attests how it ended.`
        const late = evidence === null ? {} : { evidence }
        return fail(failure("WRONG_STATE", message, { loss_notice: lost.notice, ...late }))
      }
      const receipt = known === null ? null : mirror.receipt(known.id)
      return receipt === null ? at.receipt(caller, id) : ok(receipt)
    },

    readTranscript: (caller, params) =>
      on(caller, params.execution_id, ({ at, id }) =>
        at.readTranscript(caller, { ...params, execution_id: id }),
      ),
    search: (caller, params) =>
      on(caller, params.execution_id, ({ at, id }) =>
        at.search(caller, { ...params, execution_id: id }),
      ),
    verify: (caller, params) =>
      on(caller, params.execution_id, ({ at, id }) =>
        at.verify(caller, { ...params, execution_id: id }),
      ),
    readOutput: (caller, request, keep) =>
      on(caller, request.executionId, ({ at, id }) =>
        at.readOutput(caller, { ...request, executionId: idOf(id) }, keep),
      ),
    screen: (caller, params) =>
      on(caller, params.execution_id, ({ at, id }) =>
        at.screen(caller, { ...params, execution_id: id }),
      ),

    open: (caller, given, from, scope, sizes) =>
      on(caller, given, async ({ at, id }) =>
        opened(at, await at.open(caller, id, from, scope, sizes)),
      ),
    async openStarted(started, caller) {
      const node = started.placement?.node ?? self
      const at = node === self ? local : remote(node)
      if (at === null) return fail(unreachableNode(node))
      return opened(at, await at.openStarted(started, caller))
    },
    openScreen: (caller, given, scrollback, scope) =>
      on(caller, given, async ({ at, id }) => {
        const shown = await at.openScreen(caller, id, scrollback, scope)
        if (shown.ok) openedBy.set(shown.value.feed, at)
        return shown
      }),
    declareSize: (feed, size) => openerOf(feed).declareSize(feed, size),
    drive: (caller, feed, acknowledges) => openerOf(feed).drive(caller, feed, acknowledges),

    watch(caller, labels, changed) {
      const watching = local.watch(caller, labels, (record) => changed(withOwnLoss(record)))
      if (!watching.ok) return watching
      const known = callerInFleet(caller, self)
      const others = index.watch((record) => {
        const isTheirs = maySee(known, ownedOf(record)) && hasLabels(record, labels)
        if (isTheirs && caller.isStillGood()) changed(record)
      })
      const both = new DisposableStack()
      both.use(watching.value)
      both.use(others)
      return ok(both)
    },
  }
  return operations

  async function on<Value>(
    caller: Caller,
    given: string,
    run: (place: Place) => Answer<Value>,
  ): Answer<Value> {
    const place = await find(caller, given)
    if (!place.ok) return place
    const { node, id } = place.value
    if (node === self || remote(node) !== null) return run(place.value)
    return fail(placements.lost(id) === null ? unreachableNode(node) : lostWithNode(id, node))
  }

  /** What callers may not see is not found: of another node, it is that node that decides. */
  async function find(caller: Caller, given: string): Promise<Result<Place, Failure>> {
    const identified = identifyInFleet(caller, given, ports)
    if (!identified.ok) return identified
    const { id, isOwn } = identified.value
    if (isOwn) return ok({ at: local, id, node: self })
    const node = mirror.find(id)?.placement?.node ?? (await ports.nodeOf(id))
    if (node === null || node === self) return ok({ at: local, id, node: self })
    const at = remote(node)
    return at === null ? unreachablePlace(caller, id, node) : ok({ at, id, node })
  }

  /** What can be known of it without its node still can; the rest says why it cannot. */
  function unreachablePlace(caller: Caller, id: string, node: string): Result<Place, Failure> {
    if (mirrored(caller, id) !== null) return ok({ at: local, id, node })
    if (placements.lost(id) !== null && mirror.find(idOf(id)) === null) {
      return fail(lostWithNode(id, node))
    }
    return fail(mirror.find(idOf(id)) === null ? unreachableNode(node) : notFound(id))
  }

  /** Of another node, as far as this caller may see it. */
  function mirrored(caller: Caller, id: string): ExecutionRecord | null {
    const record = mirror.find(idOf(id))
    if (record === null) return null
    const isTheirs = maySee(callerInFleet(caller, self), ownedOf(record))
    return isTheirs && permit(caller, "read").ok ? record : null
  }

  function asHeard(record: ExecutionRecord): ExecutionRecord {
    const { placement } = record
    if (placement === undefined || hasEnded(record) || members.isReachable(placement.node))
      return record
    return { ...record, placement: { ...placement, unreachable: true } }
  }

  function withOwnLoss(record: ExecutionRecord): ExecutionRecord {
    const lost = placements.lost(record.id)
    return lost === null ? record : lostRecord(record, lost)
  }

  function withLoss(view: ReturnType<typeof viewOf>): ReturnType<typeof viewOf> {
    const lost = placements.lost(view.execution_id)
    const record = lost === null ? null : ports.journal().find(idOf(view.execution_id))
    return lost === null || record === null ? view : viewOf(lostRecord(record, lost))
  }

  function otherNodes(): Operations[] {
    const names = members.all().filter(({ name, state }) => name !== self && state !== "forgotten")
    return names.flatMap(({ name }) => (members.isReachable(name) ? (remote(name) ?? []) : []))
  }

  function opened(at: Operations, feed: Result<OutputFeed, Failure>): Result<OutputFeed, Failure> {
    if (feed.ok) openedBy.set(feed.value, at)
    return feed
  }

  function openerOf(feed: DrivenFeed): Operations {
    const opener = openedBy.get(feed)
    if (opener === undefined) throw new Error(`nobody has opened the feed of ${feed.executionId}`)
    return opener
  }
}

/** Nodes do not know where in the fleet they are told of. */
function onNode(record: ExecutionRecord, node: string): ExecutionRecord {
  const { epoch = 0, attempt = 1 } = record.placement ?? {}
  return { ...record, placement: { ...record.placement, node, epoch, attempt } }
}

function idOf(given: string): ExecutionId {
  return IdSchema.parse(given)
}

function lostWithNode(id: string, node: string): Failure {
  const message =
    `Execution ${id} was declared lost with node ${node}, which cannot be reached: ` +
    "what it has written is there, and nowhere else."
  return failure("FLEET_UNAVAILABLE", message, { node, execution_id: id })
}
