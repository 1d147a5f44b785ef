import type { X509Certificate } from "node:crypto"
import { fail, ok, type Result } from "../lib/result.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { EngineView, NodeView } from "../protocol/node.ts"
import type { Caller } from "../service/access/caller.ts"
import { permit, scopeOf } from "../service/access/permission.ts"
import type { NodeOperations } from "../service/gateway/node-operations.ts"
import { reasonOf } from "./accept.ts"
import type { Tables } from "./engine-port.ts"
import type { NodeOrder } from "./entries.ts"
import { fleetUnavailable } from "./fleet-failures.ts"
import type { Member, Members } from "./members.ts"
import { isVouchedFor } from "./signed-statements.ts"

export type NodeOperationPorts = {
  self: string
  members: Members
  authorities: readonly X509Certificate[]
  tables: () => Pick<Tables, "orders"> | null
  now: () => Date
  engine: () => EngineView
  missing: () => string | null
  declareNodeLost: (node: string, why: string) => Promise<number>
}

/** What can be asked and ordered about the nodes of a fleet, at any of them. */
export function nodeOperations(ports: NodeOperationPorts): NodeOperations {
  const { self, members, authorities, engine, missing, declareNodeLost } = ports
  return {
    async list(caller) {
      const permitted = permit(caller, scopeOf["node.list"])
      if (!permitted.ok) return permitted
      const nodes = members.all().map((member) => viewOf(member, self, receiptKeyOf(member)))
      const sorted = nodes.toSorted((one, other) => (one.node < other.node ? -1 : 1))
      return ok({ nodes: sorted, engine: engine(), missing: missing() })
    },
    drain: (caller, { node }) => order(caller, "node.drain", node, { drained: true }),
    undrain: (caller, { node }) =>
      order(caller, "node.undrain", node, { drained: false, forgotten: false }),
    async forget(caller, { node }) {
      const permitted = permit(caller, scopeOf["node.forget"])
      if (!permitted.ok) return permitted
      if (members.isReachable(node)) return fail(stillThere(node))
      const ordered = await order(caller, "node.forget", node, { forgotten: true })
      if (!ordered.ok) return ordered
      return ok({ lost: await declareNodeLost(node, `node ${node} was forgotten`) })
    },
  }

  function receiptKeyOf({ name, entry }: Member): string | null {
    return isVouchedFor(name, entry.key, authorities) ? entry.key.receiptKey : null
  }

  async function order(
    caller: Caller,
    method: "node.drain" | "node.undrain" | "node.forget",
    node: string,
    change: Partial<Pick<NodeOrder, "drained" | "forgotten">>,
  ): Promise<Result<Record<string, never>, Failure>> {
    const permitted = permit(caller, scopeOf[method])
    if (!permitted.ok) return permitted
    if (members.find(node) === null) return fail(unknownNode(node))
    const before = members.orderFor(node) ?? { drained: false, forgotten: false }
    const by = `${caller.principal}@${self}`
    const ordered = { ...before, ...change, by, at: ports.now().toISOString() }
    const written = await ports.tables()?.orders.put(node, ordered)
    if (written === undefined) return fail(fleetUnavailable("its engine is not connected"))
    if (!written.ok) return fail(fleetUnavailable(reasonOf(written.failure)))
    members.ordered(node, ordered)
    return ok({})
  }
}

function viewOf(
  { name, entry, state, silentMs }: Member,
  self: string,
  receipt_key: string | null,
): NodeView {
  const { epoch, labels, slots, running, address, version } = entry
  const silent = Math.round(silentMs / 100) / 10
  const node = { node: name, state, self: name === self, epoch, labels, slots, running }
  return { ...node, address, version, receipt_key, silent }
}

function unknownNode(node: string): Failure {
  const name = JSON.stringify(node)
  const message = `There is no node ${name} in this fleet. See \`cc-executor node ls\`.`
  return failure("INVALID_PARAMS", message)
}

function stillThere(node: string): Failure {
  const message =
    `Node ${node} is there: only a node that is silent can be forgotten. Drain it, and stop it ` +
    "when what it runs has ended."
  return failure("WRONG_STATE", message, { node })
}
