import { createHash } from "node:crypto"
import type { ExecutionId } from "../execution/id.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { canonicalText } from "../lib/canonical-text.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import type { ExecuteParams } from "../protocol/execute.ts"
import { type Failure, failure } from "../protocol/failure.ts"
import type { Caller } from "../service/access/caller.ts"
import type { Operations } from "../service/gateway/ports.ts"
import { mayGoElsewhere, mayHaveStarted, reasonOf } from "./accept.ts"
import { chooseNode } from "./choose-node.ts"
import type { EngineFailure, Stored, Table } from "./engine-port.ts"
import type { KeyEntry, PlacementEntry } from "./entries.ts"
import { principalInFleet } from "./fleet-caller.ts"
import { fleetUnavailable } from "./fleet-failures.ts"
import type { Members } from "./members.ts"
import type { Placements } from "./placements.ts"

type Started = Result<{ record: ExecutionRecord; repeated: boolean }, Failure>

export type PlacePorts = {
  self: string
  members: Members
  placements: Placements
  table: Pick<Table<PlacementEntry>, "get" | "create" | "replace">
  keys: Pick<Table<KeyEntry>, "get" | "create" | "replace">
  /** Of one node, this one included. */
  executeOn: (node: string) => Operations["execute"]
  statusOn: (caller: Caller, node: string, id: string) => ReturnType<Operations["status"]>
  /** Why nothing may be placed now; null when it may. */
  obstacle: () => string | null
  newId: () => ExecutionId
  monotonicMs: () => number
}

/** Nobody waits longer for a place, however often it is refused. */
const patienceMs = 20_000
const pauseMs = 100
/** Somebody changes the same at the same moment: each try is an answer of the engine. */
const mostConflicts = 20

/** Finds a node for what a caller wants to start: each id has one place, and each key one id. */
export class Placing {
  readonly #ports: PlacePorts

  constructor(ports: PlacePorts) {
    this.#ports = ports
  }

  async execute(caller: Caller, params: ExecuteParams, follow: boolean): Promise<Started> {
    const obstacle = this.#ports.obstacle()
    if (obstacle !== null) return fail(fleetUnavailable(obstacle))
    const { idempotency_key: key } = params
    if (key === undefined) {
      const placed = await this.#place(caller, params, this.#ports.newId(), follow)
      return placed.ok ? ok({ ...placed.value, repeated: false }) : placed
    }
    const claimed = await this.#claim(caller, params, key)
    if (!claimed.ok) return claimed
    const { id, isRepeated } = claimed.value
    const placed = await this.#place(caller, params, id, follow)
    if (!placed.ok) return placed
    const { record } = placed.value
    // A node knew the key from before the fleet did.
    if (record.id !== id) await this.#correct(caller, key, record.id)
    return ok({ record, repeated: record.id !== id || (isRepeated && placed.value.repeated) })
  }

  /** The id that this key stands for: the first who asks with it makes one. */
  async #claim(
    caller: Caller,
    params: ExecuteParams,
    key: string,
  ): Promise<Result<{ id: ExecutionId; isRepeated: boolean }, Failure>> {
    const { keys, table, newId } = this.#ports
    const hash = this.#hashOf(caller, key)
    const fingerprint = fingerprintOf(params)
    for (let tries = 0; tries < mostConflicts; tries += 1) {
      const mine = { executionId: newId(), fingerprint }
      const created = await keys.create(hash, mine)
      if (created.ok) return ok({ id: mine.executionId, isRepeated: false })
      if (created.failure.kind === "unavailable") return unavailable(created.failure)
      const found = await keys.get(hash)
      if (!found.ok) return unavailable(found.failure)
      if (found.value === null) continue // it has run out this moment
      const { value, revision } = found.value
      if (value.fingerprint === fingerprint) return ok({ id: value.executionId, isRepeated: true })
      const placement = await table.get(value.executionId)
      if (!placement.ok) return unavailable(placement.failure)
      // With that request nothing was started: the key is free for another one.
      const isFree = placement.value === null || placement.value.value.state === "refused"
      if (!isFree) return fail(usedForAnother(key))
      const replaced = await keys.replace(hash, mine, revision)
      if (replaced.ok) return ok({ id: mine.executionId, isRepeated: false })
      if (replaced.failure.kind === "unavailable") return unavailable(replaced.failure)
    }
    return unavailable({ kind: "conflict" })
  }

  async #correct(caller: Caller, key: string, executionId: ExecutionId): Promise<void> {
    const hash = this.#hashOf(caller, key)
    const found = await this.#ports.keys.get(hash)
    if (!found.ok || found.value === null) return
    const { value, revision } = found.value
    await this.#ports.keys.replace(hash, { ...value, executionId }, revision)
  }

  async #place(
    caller: Caller,
    params: ExecuteParams,
    id: ExecutionId,
    follow: boolean,
  ): Promise<Started> {
    const { table, self, members, placements, executeOn, statusOn, monotonicMs } = this.#ports
    const startedMs = monotonicMs()
    const tried = new Set<string>()
    let refusal: Failure | null = null
    let known: Stored<PlacementEntry> | null = null
    for (let tries = 0; monotonicMs() - startedMs < patienceMs; tries += 1) {
      if (tries > 0) await Bun.sleep(pauseMs)
      if (tries > 0 || params.idempotency_key !== undefined) {
        const found = await table.get(id)
        if (!found.ok) return unavailable(found.failure)
        known = found.value
      }
      const state = known?.value.state
      if (known !== null && (state === "accepted" || state === "ended" || state === "lost")) {
        const { node } = known.value
        const status = await statusOn(caller, node, id)
        if (status.ok) return ok({ record: status.value, repeated: true })
        if (known.value.state === "lost") return fail(mayHaveStarted(id, node))
        // It is being started this moment, or its node cannot be reached.
        refusal = status.failure
        if (status.failure.reason === "PROCESS_NOT_FOUND" || state === "accepted") continue
        return status
      }
      const isWithNode = known?.value.state === "assigned" && members.isReachable(known.value.node)
      if (!isWithNode || tried.has(known?.value.node ?? "")) {
        const chosen = chooseNode(members.all(), {
          self,
          on: params.on,
          tried,
          taken: (node) => placements.countOf(node),
        })
        if (!chosen.ok) return fail(refusal !== null && tried.size > 0 ? refusal : chosen.failure)
        const { name: node, entry } = chosen.value
        const attempt: number = (known?.value.attempt ?? 0) + 1
        const assigned = {
          state: "assigned",
          node,
          epoch: entry.epoch,
          attempt,
          front: self,
        } as const
        const written: Result<number, EngineFailure> =
          known === null
            ? await table.create(id, assigned)
            : await table.replace(id, assigned, known.revision)
        if (!written.ok && written.failure.kind === "unavailable")
          return unavailable(written.failure)
        if (!written.ok) continue
        known = { value: assigned, revision: written.value }
        placements.changed({ key: id, ...known })
      }
      if (known === null) continue
      const { node, epoch, attempt } = known.value
      const { on: _, ...rest } = params
      const request = { ...rest, placed: { execution_id: id, node, epoch, attempt } }
      const started = await executeOn(node)(caller, request, follow)
      if (started.ok) return started
      refusal = started.failure
      const isUnknown = refusal.reason === "OUTCOME_UNKNOWN"
      const isUnreached = refusal.reason === "SHUTTING_DOWN"
      if (isUnknown && refusal.details?.["execution_id"] !== undefined) return started
      if (isUnreached || mayGoElsewhere(refusal)) tried.add(node)
      else if (!isUnknown) return started
    }
    if (known?.value.state === "accepted") return fail(mayHaveStarted(id, known.value.node))
    return fail(refusal ?? fleetUnavailable("too many change the same placement"))
  }

  #hashOf({ principal }: Caller, key: string): string {
    const whose = principalInFleet(principal, this.#ports.self)
    return createHash("sha256")
      .update(JSON.stringify([whose, key]))
      .digest("hex")
  }
}

/** The same for the same request, whatever the order of its fields and however output travels. */
function fingerprintOf(params: ExecuteParams): string {
  const { idempotency_key: _, acknowledges: __, encoding: ___, ...rest } = params
  return createHash("sha256").update(canonicalText(rest)).digest("hex")
}

function unavailable(engine: { kind: string; why?: string }): Result<never, Failure> {
  return fail(fleetUnavailable(reasonOf(engine)))
}

function usedForAnother(key: string): Failure {
  const message = `The idempotency key ${JSON.stringify(key)} was used for another request.`
  return failure("IDEMPOTENCY_MISMATCH", message)
}
