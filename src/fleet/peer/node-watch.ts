import { reconnectDelayMs } from "../../client/connection/reconnect-policy.ts"
import type { ExecutionRecord } from "../../execution/record.ts"
import type { StateKind } from "../../execution/state.ts"
import { delay } from "../../lib/delay.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Caller } from "../../service/access/caller.ts"
import type { FleetNode, NodeIdentity } from "../ports.ts"
import type { NodeCalls } from "./node-calls.ts"
import { NodeConnection } from "./node-connection.ts"
import { spokenFor } from "./spoken-for.ts"

export type NodeWatchOptions = {
  node: FleetNode
  identity: NodeIdentity
  caller: Caller
  calls: NodeCalls
  labels: Record<string, string> | undefined
  changed: (record: ExecutionRecord) => void
}

const reconnect = { firstDelayMs: 50, maxDelayMs: 2_000 }
/** So many are looked at after a cut; an older one that has changed in it must be asked for. */
const mostListed = 1000

/** Changes of executions of another node, also those that a cut has kept from us. */
export class NodeWatch implements Disposable {
  readonly #options: NodeWatchOptions
  readonly #closing = new AbortController()
  /** The live ones, as they were told last, and how new the newest of all was. */
  readonly #live = new Map<string, StateKind>()
  #newestAt: string | null = null
  #connection: NodeConnection | null = null

  constructor(options: NodeWatchOptions) {
    this.#options = options
    void this.#run()
  }

  [Symbol.dispose](): void {
    this.#closing.abort()
    this.#connection?.[Symbol.dispose]()
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    let attempt = 0
    while (!signal.aborted && this.#options.caller.isStillGood()) {
      const wasWatching = await this.#watchUntilCut()
      attempt = wasWatching ? 1 : attempt + 1
      await delay(reconnectDelayMs(attempt, reconnect, Math.random()), signal)
    }
  }

  async #watchUntilCut(): Promise<boolean> {
    const { node, identity, caller, labels } = this.#options
    const cut = Promise.withResolvers<void>()
    const opened = await NodeConnection.open(node, identity, spokenFor(caller), {
      output: () => undefined,
      noticed: (notice) => notice.notice === "record" && this.#tell(notice.record),
      ended: () => cut.resolve(),
    })
    if (!opened.ok) return false
    using connection = opened.value
    this.#connection = connection
    if (this.#closing.signal.aborted) return false
    const watching = await connection.ask("watch", labels === undefined ? {} : { labels })
    if (!watching.ok) return false
    await this.#catchUp()
    await cut.promise
    return true
  }

  #tell(record: ExecutionRecord): void {
    const { caller, changed } = this.#options
    if (this.#closing.signal.aborted || !caller.isStillGood()) return
    if (record.state.kind === "ended") this.#live.delete(record.id)
    else this.#live.set(record.id, record.state.kind)
    if (this.#newestAt === null || record.createdAt > this.#newestAt) {
      this.#newestAt = record.createdAt
    }
    changed(record)
  }

  async #catchUp(): Promise<void> {
    const { caller, calls, labels } = this.#options
    const filter = labels === undefined ? {} : { labels }
    const listed = await calls.ask(caller, "list", { limit: mostListed, ...filter })
    if (!listed.ok) return
    const { executions } = listed.value
    const views = new Map(executions.map((view) => [view.execution_id, view]))
    const gone = [...this.#live.keys()].filter((id) => !views.has(id))
    const missed = [...views.values()].filter((view) => this.#isMissed(view))
    this.#newestAt ??= executions[0]?.created_at ?? ""
    const ids = [...gone, ...missed.map(({ execution_id }) => execution_id)]
    for (const execution_id of ids) {
      const status = await calls.ask(caller, "status", { execution_id })
      if (status.ok) this.#tell(status.value.record)
      else if (status.failure.reason === "PROCESS_NOT_FOUND") this.#live.delete(execution_id)
    }
  }

  #isMissed({ execution_id, state, created_at }: ExecutionView): boolean {
    if (state !== "ended") return this.#live.get(execution_id) !== state
    const isNew = this.#newestAt !== null && created_at > this.#newestAt
    return isNew || this.#live.has(execution_id)
  }
}
