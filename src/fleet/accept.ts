import type { ExecutionId } from "../execution/id.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import type { ExecuteParams } from "../protocol/execute.ts"
import { type Failure, failure, withDetails } from "../protocol/failure.ts"
import { type Caller, localCaller } from "../service/access/caller.ts"
import { permit, scopeOf } from "../service/access/permission.ts"
import type { Operations } from "../service/gateway/ports.ts"
import type { Stored, Table } from "./engine-port.ts"
import type { PlacementEntry } from "./entries.ts"
import { fleetUnavailable } from "./fleet-failures.ts"
import type { Placements } from "./placements.ts"

type Started = Result<{ record: ExecutionRecord; repeated: boolean }, Failure>

export type AcceptPorts = {
  node: string
  local: Pick<Operations, "execute" | "status">
  table: Pick<Table<PlacementEntry>, "get" | "replace">
  placements: Placements
  /** In which this node may start something; null when it may not. */
  epoch: () => number | null
  hasRoom: () => boolean
  isDrained: () => boolean
  declareLost: (id: ExecutionId, known: Stored<PlacementEntry>, why: string) => Promise<void>
  /** It was started here: others are to know before they are told of anything else. */
  started: (record: ExecutionRecord) => void
}

/** How this node takes what was placed on it: each placement once, however often it is asked. */
export class Acceptance {
  readonly #ports: AcceptPorts
  readonly #underway = new Map<ExecutionId, Promise<Started>>()

  constructor(ports: AcceptPorts) {
    this.#ports = ports
  }

  isUnderway(id: string): boolean {
    return this.#underway.has(id)
  }

  async accept(caller: Caller, params: ExecuteParams, follow: boolean): Promise<Started> {
    const { placed } = params
    if (placed === undefined) return fail(notPlaced)
    const id = placed.execution_id
    const earlier = this.#underway.get(id)
    if (earlier !== undefined) return repeatedOf(await earlier)
    const accepting = this.#accept(caller, params, placed, follow)
    this.#underway.set(id, accepting)
    try {
      return await accepting
    } finally {
      this.#underway.delete(id)
    }
  }

  async #accept(
    caller: Caller,
    params: ExecuteParams,
    placed: NonNullable<ExecuteParams["placed"]>,
    follow: boolean,
  ): Promise<Started> {
    const { node, table, local, declareLost } = this.#ports
    const { execution_id: id, attempt } = placed
    const permitted = permit(caller, scopeOf.execute)
    if (!permitted.ok) return permitted
    const found = await table.get(id)
    if (!found.ok) return fail(fleetUnavailable(reasonOf(found.failure)))
    const stored = found.value
    const isOurs = stored?.value.node === node && stored.value.attempt === attempt
    if (stored === null || !isOurs) return fail(placedElsewhere(id))
    const { value } = stored
    if (value.state === "accepted" || value.state === "ended") {
      // Whether there is a record is no matter of what this caller may see.
      const known = await local.status(localCaller("fleet", "fleet"), id)
      if (known.ok) {
        const isTheirs = known.value.principal === caller.principal
        return isTheirs ? ok({ record: known.value, repeated: true }) : fail(notPlaced)
      }
      const isMissing = known.failure.reason === "PROCESS_NOT_FOUND"
      if (value.state === "ended" || !isMissing) return known
      await declareLost(id, stored, "the node had accepted it, and has no record of it")
      return fail(mayHaveStarted(id, node))
    }
    if (value.state !== "assigned") return fail(placedElsewhere(id))
    const unfit = this.#unfitness(placed.epoch)
    if (unfit !== null) return this.#refuse(id, stored, unfit)
    const accepted = { state: "accepted", node, epoch: placed.epoch, attempt } as const
    const taken = await table.replace(id, accepted, stored.revision)
    if (!taken.ok && taken.failure.kind === "conflict") return fail(placedElsewhere(id))
    if (!taken.ok) return fail(fleetUnavailable(reasonOf(taken.failure)))
    const now = { value: accepted, revision: taken.value }
    this.#ports.placements.changed({ key: id, ...now })
    // Between the two this process may have been stopped for as long as anybody likes.
    const late = this.#unfitness(placed.epoch)
    return late === null
      ? this.#start(caller, params, id, now, follow)
      : this.#refuse(id, now, late)
  }

  async #start(
    caller: Caller,
    params: ExecuteParams,
    id: ExecutionId,
    accepted: Stored<PlacementEntry>,
    follow: boolean,
  ): Promise<Started> {
    const started = await this.#ports.local.execute(caller, params, follow)
    if (!started.ok) return this.#refuse(id, accepted, started.failure)
    const { record } = started.value
    if (record.id === id) this.#ports.started(record)
    else await this.#refuse(id, accepted, supersededBy(record.id))
    return started
  }

  /** Nothing was started: it may be placed elsewhere. */
  async #refuse(
    id: ExecutionId,
    { value, revision }: Stored<PlacementEntry>,
    why: Failure,
  ): Promise<Result<never, Failure>> {
    const { node, epoch, attempt } = value
    const refused = { state: "refused", node, epoch, attempt, why: why.message } as const
    const written = await this.#ports.table.replace(id, refused, revision)
    if (written.ok) {
      this.#ports.placements.changed({ key: id, value: refused, revision: written.value })
    }
    return fail(why)
  }

  #unfitness(epoch: number): Failure | null {
    const { node, hasRoom, isDrained } = this.#ports
    const own = this.#ports.epoch()
    if (own === null || own !== epoch) return notFit(node)
    if (isDrained()) return drained(node)
    return hasRoom() ? null : full(node)
  }
}

/** Whether another node may do what this one has refused. */
export function mayGoElsewhere({ reason, details }: Failure): boolean {
  return details?.["elsewhere"] === true || reason === "AT_CAPACITY" || reason === "DISK_FULL"
}

function repeatedOf(started: Started): Started {
  return started.ok ? ok({ ...started.value, repeated: true }) : started
}

export function reasonOf(engine: { kind: string; why?: string }): string {
  return engine.why ?? "the engine says that something has changed meanwhile"
}

const notPlaced = failure("INVALID_PARAMS", "Nodes start only what was placed on them.")
const elsewhere = { elsewhere: true } as const

function notFit(node: string): Failure {
  const why = `Node ${node} is not joined to the fleet as it was when this was placed on it`
  return withDetails(fleetUnavailable(why), elsewhere)
}

function drained(node: string): Failure {
  return withDetails(failure("AT_CAPACITY", `Node ${node} is drained: it takes nothing new.`), {
    ...elsewhere,
    retry_after: 5,
  })
}

function full(node: string): Failure {
  return withDetails(failure("AT_CAPACITY", `Node ${node} has no free slot.`), {
    ...elsewhere,
    retry_after: 5,
  })
}

function placedElsewhere(id: string): Failure {
  const message = `Execution ${id} is not placed on this node any more.`
  return withDetails(failure("WRONG_STATE", message), elsewhere)
}

function supersededBy(id: string): Failure {
  return failure("WRONG_STATE", `Its idempotency key had started ${id} before.`)
}

export function mayHaveStarted(id: string, node: string): Failure {
  const message =
    `Execution ${id} was accepted by node ${node}, and nothing was heard of it since: it may ` +
    "have started, and is not started again. Look at what it was to do before you start another."
  return failure("OUTCOME_UNKNOWN", message, { execution_id: id, node })
}
