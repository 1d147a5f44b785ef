import { liveStates, type StateKind } from "../../execution/state.ts"
import type { Labels } from "../../protocol/execute.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Session } from "../connection/session.ts"

const pageSize = 1000

/**
 * Remembers what watchers have been told, so that after a cut they can be told what they missed.
 * Only live executions are remembered, and how new the newest was.
 */
export class KnownExecutions {
  readonly #live = new Map<string, StateKind>()
  #newest = { createdAt: "", ids: new Set<string>() }
  /** Told since the look around began: newer than anything the lists in it say. */
  readonly #fresh = new Set<string>()
  #isListing = false

  observe(view: ExecutionView): void {
    if (this.#isListing) this.#fresh.add(view.execution_id)
    this.#remember(view)
  }

  /** Begins before the server is asked to watch, so that nothing falls in between. */
  async whileListing(look: () => Promise<boolean>): Promise<boolean> {
    this.#isListing = true
    try {
      return await look()
    } finally {
      this.#isListing = false
      this.#fresh.clear()
    }
  }

  /** What to compare with later; false when the session ended before it was complete. */
  async begin(session: Session, labels: Labels): Promise<boolean> {
    const live = await listLive(session, labels)
    const newest = await session.ask("list", { limit: 1, labels })
    if (live === null || !newest.ok) return false
    for (const view of [...live, ...newest.value.executions]) {
      if (!this.#fresh.has(view.execution_id)) this.#remember(view)
    }
    return true
  }

  /** What changed since watchers were last told; null when the session ended over it. */
  async missed(session: Session, labels: Labels): Promise<ExecutionView[] | null> {
    const live = await listLive(session, labels)
    // Those that began after the newest one known, and ended already.
    const ended = await listWhile(session, "ended", labels, (view) => this.#isNew(view))
    if (live === null || ended === null) return null
    const gone = await this.#askForGone(session, new Set(live.map((view) => view.execution_id)))
    if (gone === null) return null
    const changed = [...ended, ...gone, ...live].filter((view) => this.#hasChanged(view))
    for (const view of changed) this.#remember(view)
    return changed
  }

  #hasChanged(view: ExecutionView): boolean {
    if (this.#fresh.has(view.execution_id)) return false
    if (view.state !== "ended") return this.#live.get(view.execution_id) !== view.state
    return this.#live.has(view.execution_id) || this.#isNew(view)
  }

  #isNew(view: ExecutionView): boolean {
    const { createdAt, ids } = this.#newest
    if (view.created_at === createdAt) return !ids.has(view.execution_id)
    return createdAt !== "" && view.created_at > createdAt
  }

  #remember(view: ExecutionView): void {
    if (view.state === "ended") this.#live.delete(view.execution_id)
    else this.#live.set(view.execution_id, view.state)
    if (view.created_at > this.#newest.createdAt) {
      this.#newest = { createdAt: view.created_at, ids: new Set() }
    }
    if (view.created_at === this.#newest.createdAt) this.#newest.ids.add(view.execution_id)
  }

  async #askForGone(session: Session, live: Set<string>): Promise<ExecutionView[] | null> {
    const views: ExecutionView[] = []
    for (const execution_id of this.#live.keys()) {
      if (live.has(execution_id) || this.#fresh.has(execution_id)) continue
      const status = await session.ask("status", { execution_id })
      if (status.ok) views.push(status.value)
      else if (status.failure.kind === "lost") return null
      else this.#live.delete(execution_id) // removed: there is nothing left to tell
    }
    return views
  }
}

async function listLive(session: Session, labels: Labels): Promise<ExecutionView[] | null> {
  const views: ExecutionView[] = []
  for (const state of liveStates) {
    const listed = await listWhile(session, state, labels, () => true)
    if (listed === null) return null
    views.push(...listed)
  }
  return views
}

/** The newest come first, so the first page with an unwanted one is the last to look at. */
async function listWhile(
  session: Session,
  state: StateKind,
  labels: Labels,
  isWanted: (view: ExecutionView) => boolean,
): Promise<ExecutionView[] | null> {
  const views: ExecutionView[] = []
  let cursor: string | undefined
  do {
    const filter = { state, labels, limit: pageSize }
    const page = await session.ask("list", cursor === undefined ? filter : { ...filter, cursor })
    if (!page.ok) return null
    const { executions } = page.value
    const wanted = executions.filter(isWanted)
    views.push(...wanted)
    cursor = wanted.length < executions.length ? undefined : page.value.cursor
  } while (cursor !== undefined)
  return views
}
