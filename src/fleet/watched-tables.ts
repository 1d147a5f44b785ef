import { delay } from "../lib/delay.ts"
import type { Log } from "../lib/log.ts"
import type { Tables } from "./engine-port.ts"
import type { NodeEntry } from "./entries.ts"
import type { IndexRecords } from "./index-records.ts"
import type { Members } from "./members.ts"
import type { Placements } from "./placements.ts"

export type Listeners = {
  members: Members
  placements: Placements
  index: IndexRecords
  heard: (name: string, entry: NodeEntry) => void
  log: Log
  /** Before a watch that has broken begins again. */
  pauseMs: number
}

/** Everything that the engine tells this node, one watch for each table. */
export class WatchedTables {
  readonly #listeners: Listeners
  #watching: AbortController | null = null

  constructor(listeners: Listeners) {
    this.#listeners = listeners
  }

  get isWatching(): boolean {
    return this.#watching !== null
  }

  /** Hears of nodes first: by their keys it is judged what they tell. */
  async start(tables: Tables): Promise<void> {
    const watching = new AbortController()
    this.#watching = watching
    const { signal } = watching
    const { members, placements, index, heard } = this.#listeners
    placements.restart()
    await this.#keep("nodes", signal, (complete) =>
      tables.nodes.watch(
        ({ key, value }) => (value === null ? members.removed(key) : heard(key, value)),
        complete,
        signal,
      ),
    )
    await this.#keep("orders", signal, (complete) =>
      tables.orders.watch(({ key, value }) => members.ordered(key, value), complete, signal),
    )
    await this.#keep("placements", signal, (complete) =>
      tables.placements.watch((change) => placements.changed(change), complete, signal),
    )
    await this.#keep("records", signal, (complete) =>
      tables.records.watch((change) => index.changed(change), complete, signal),
    )
  }

  stop(): void {
    this.#watching?.abort()
    this.#watching = null
  }

  /** Resolves once what there is was told, or cannot be told now; goes on until it is aborted. */
  async #keep(
    table: string,
    signal: AbortSignal,
    watch: (complete: () => void) => Promise<void>,
  ): Promise<void> {
    const { log, pauseMs } = this.#listeners
    const complete = Promise.withResolvers<void>()
    const untilAborted = async () => {
      while (!signal.aborted) {
        try {
          await watch(complete.resolve)
        } catch (error) {
          if (!(error instanceof Error)) throw error
          log.warn({ table, reason: error.message }, "a table of the fleet is watched again")
          complete.resolve()
          await delay(pauseMs)
        }
      }
      complete.resolve()
    }
    void untilAborted()
    await complete.promise
  }
}
