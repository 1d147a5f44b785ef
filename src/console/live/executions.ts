import { computed, type Signal, signal } from "@preact/signals"
import type { Client } from "../../client/connect.ts"
import type { Watch } from "../../client/watch/watch.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"

type Known = ReadonlyMap<string, ExecutionView>

/** How much an execution writes, seen from here: null until it was looked at twice. */
type Rate = { bytes: number; atMs: number; perSecond: number | null }

const pageSize = 100
/** Ended ones that are kept; further ones are asked for. */
const mostEnded = 500
const lookEveryMs = 2_000

/** The executions the caller may see: told of every change, and asked how much they write. */
export class Executions implements Disposable {
  readonly all: Signal<Known> = signal(new Map())
  /** False until the first page is here. */
  readonly isLoaded = signal(false)
  readonly rates: Signal<ReadonlyMap<string, Rate>> = signal(new Map())
  readonly live = computed(() => newestFirst(this.all.value, (view) => view.state !== "ended"))
  readonly ended = computed(() => newestFirst(this.all.value, (view) => view.state === "ended"))
  /** Whether there are older ones that were not asked for. */
  readonly hasOlder = signal(false)
  readonly #client: Client
  readonly #watch: Watch
  readonly #timer: number
  #older: string | undefined
  #isLooking = false

  constructor(client: Client) {
    this.#client = client
    this.#watch = client.watch()
    ignoreUnhandledRejection(this.#follow())
    ignoreUnhandledRejection(this.#watch.ready.then(() => this.loadOlder()))
    this.#timer = window.setInterval(() => this.#look(), lookEveryMs)
  }

  [Symbol.dispose](): void {
    window.clearInterval(this.#timer)
    this.#watch[Symbol.dispose]()
  }

  /** The next page, from the newest on. */
  async loadOlder(): Promise<void> {
    const filter = { limit: pageSize }
    const cursor = this.#older
    const page = await this.#client.call(
      "list",
      cursor === undefined ? filter : { ...filter, cursor },
    )
    this.#older = page.cursor
    this.hasOlder.value = page.cursor !== undefined
    const known = new Map(this.all.peek())
    // What was told meanwhile is newer than the list.
    for (const view of page.executions) {
      if (!known.has(view.execution_id)) known.set(view.execution_id, view)
    }
    this.all.value = known
    this.isLoaded.value = true
  }

  async #follow(): Promise<void> {
    for await (const view of this.#watch) this.tell(view)
  }

  /** One as it is now. Whoever tells it is not told again for that. */
  tell(view: ExecutionView): void {
    const known = new Map(this.all.peek())
    // An answer may be older than what was told since; nothing comes after the end.
    if (known.get(view.execution_id)?.state === "ended" && view.state !== "ended") return
    known.set(view.execution_id, view)
    this.all.value = this.#bounded(known)
  }

  #bounded(known: Map<string, ExecutionView>): Known {
    if (known.size <= 2 * mostEnded) return known
    const ended = newestFirst(known, (view) => view.state === "ended")
    for (const view of ended.slice(mostEnded)) known.delete(view.execution_id)
    this.hasOlder.value = true
    return known
  }

  #look(): void {
    const isNeeded = !document.hidden && this.live.value.length > 0
    if (!isNeeded || this.#isLooking) return
    this.#isLooking = true
    ignoreUnhandledRejection(this.#lookAtLive().finally(() => (this.#isLooking = false)))
  }

  async #lookAtLive(): Promise<void> {
    const page = await this.#client.call("list", { state: "running", limit: pageSize })
    const known = new Map(this.all.peek())
    const rates = new Map<string, Rate>()
    const atMs = performance.now()
    for (const view of page.executions) {
      const id = view.execution_id
      const bytes = view.bytes.stdout + view.bytes.stderr
      const before = this.rates.value.get(id)
      const seconds = before === undefined ? 0 : (atMs - before.atMs) / 1000
      const perSecond = before === undefined ? null : (bytes - before.bytes) / seconds
      rates.set(id, { bytes, atMs, perSecond })
      // A change that was told meanwhile is newer than this answer.
      if (known.get(id)?.state === "running") known.set(id, view)
    }
    this.all.value = known
    this.rates.value = rates
  }
}

function newestFirst(known: Known, isWanted: (view: ExecutionView) => boolean): ExecutionView[] {
  const wanted = [...known.values()].filter(isWanted)
  return wanted.toSorted((one, other) => (one.created_at < other.created_at ? 1 : -1))
}
