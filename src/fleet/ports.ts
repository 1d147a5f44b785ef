import type { ExecutionRecord } from "../execution/record.ts"
import type { MethodName } from "../protocol/methods.ts"
import type { Caller } from "../service/access/caller.ts"
import type { Operations } from "../service/gateway/ports.ts"

/** Another node, as the registry tells of it. */
export type FleetNode = {
  readonly name: string
  /** `HOST:PORT` of its node-to-node listener: what it was given as `--advertise`. */
  readonly address: string
}

/** This node among the others: paths of PEM files, the same for the engine and for other nodes. */
export type NodeIdentity = {
  readonly name: string
  readonly cert: string
  readonly key: string
  /** The authority of the fleet: whose certificates are those of nodes. */
  readonly ca: string
}

/** Who belongs to the fleet. A node that was forgotten, or has never joined, does not. */
export interface Membership {
  isMember(node: string): boolean
}

/**
 * What callers may ask of another node, in their own names: nothing is connected before it is
 * asked. Where the node cannot be reached, the answer is `FLEET_UNAVAILABLE` with its name in
 * `details.node`; where it was asked and the connection broke before it answered, and it may not be
 * asked twice, `OUTCOME_UNKNOWN`. A feed that has been opened outlives the connections: it goes on
 * at its cursor as soon as the node can be reached again.
 */
export interface RemoteOperations extends Operations, Disposable {
  /** It was declared lost: whoever follows it on this node is told that end, and no other. */
  lost(record: ExecutionRecord): void
}

/** Opens the operations of another node. Disposed, its connections and feeds end. */
export type OpenRemote = (node: FleetNode) => RemoteOperations

/** Another node has done something for a caller of this one: resolves when that is written down. */
export type PassedOn = (
  caller: Caller,
  done: { node: string; method: MethodName; executionId: string | undefined },
) => Promise<void>
