import type { Client } from "../../client/connect.ts"
import type { Watch } from "../../client/watch/watch.ts"
import { liveStates } from "../../execution/state.ts"
import { AutoResetEvent } from "../../lib/auto-reset-event.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { type ListFilter, listExecutions, newestFirst } from "./list-executions.ts"

const refreshMs = 1_000
/** Long enough to be seen by somebody who looks now and then. */
const shownAfterEndMs = 15_000

/**
 * The executions that a list which stays up to date shows: those that fit its filter, and for a
 * while those that have just ended, however short they were.
 */
export class WatchedRows implements Disposable {
  readonly #client: Client
  readonly #now: () => Date
  readonly #watch: Watch
  readonly #woken = new AutoResetEvent()
  #filter: ListFilter
  #failure: { error: unknown } | null = null
  /** Ids of those that were in a wanted state. */
  readonly #fitted = new Set<string>()
  /** Executions that have ended, and when they may go. */
  readonly #ended = new Map<string, { view: ExecutionView; untilMs: number }>()

  private constructor({ now }: Pick<Context, "now">, client: Client, filter: ListFilter) {
    this.#client = client
    this.#now = now
    this.#filter = filter
    this.#watch = client.watch(filter.labels)
  }

  static async begin(
    context: Pick<Context, "now">,
    client: Client,
    filter: ListFilter,
  ): Promise<WatchedRows> {
    const rows = new WatchedRows(context, client, filter)
    await rows.#watch.ready
    void rows.#takeChanges()
    return rows
  }

  set filter(filter: ListFilter) {
    this.#filter = filter
    this.wake()
  }

  /** Newest first. */
  async look(): Promise<ExecutionView[]> {
    if (this.#failure !== null) throw this.#failure.error
    const listed = await listExecutions(this.#client, this.#filter)
    // A list may be older than the end that was told while it was made.
    const views = listed.filter((view) => view.state === "ended" || !this.#ended.has(idOf(view)))
    for (const view of views) {
      if (view.state === "ended") this.#ended.delete(idOf(view))
      else this.#fitted.add(idOf(view))
    }
    const nowMs = this.#now().getTime()
    for (const [id, { untilMs }] of this.#ended) if (untilMs <= nowMs) this.#ended.delete(id)
    return newestFirst([...views, ...[...this.#ended.values()].map(({ view }) => view)])
  }

  /** Counts and times change without a word, so it is looked again every second in any case. */
  async untilWorthALook(): Promise<void> {
    await Promise.race([this.#woken.wait(), Bun.sleep(refreshMs)])
  }

  wake(): void {
    this.#woken.set()
  }

  [Symbol.dispose](): void {
    this.#watch[Symbol.dispose]()
  }

  async #takeChanges(): Promise<void> {
    try {
      for await (const view of this.#watch) {
        this.#take(view)
        this.wake()
      }
    } catch (error) {
      this.#failure = { error }
      this.wake()
    }
  }

  #take(view: ExecutionView): void {
    const id = idOf(view)
    const { state } = view
    const wanted = this.#filter.states ?? []
    if (state !== "ended") {
      if (wanted.includes(state)) this.#fitted.add(id)
      return
    }
    // Changes that come fast are told as one: it may have been live without a word.
    const wasFitting = this.#fitted.delete(id) || liveStates.every((live) => wanted.includes(live))
    if (!wasFitting) return
    this.#ended.set(id, { view, untilMs: this.#now().getTime() + shownAfterEndMs })
  }
}

function idOf(view: ExecutionView): string {
  return view.execution_id
}
