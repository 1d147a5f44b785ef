import { aborted, delay } from "../../lib/delay.ts"
import type { Labels } from "../../protocol/execute.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import { isTransient, retryDelayMs } from "../calls/repeat.ts"
import { CallError } from "../client-error.ts"
import type { Connection } from "../connection/connection.ts"
import type { AskFailure, Session } from "../connection/session.ts"
import { KnownExecutions } from "./known-executions.ts"
import { type Watch, Watcher } from "./watch.ts"

/** All watchers share the session's one `watch`: of everything, if they want different labels. */
export class Watches {
  readonly #connection: Connection
  readonly #watchers = new Set<Watcher>()
  #known = new KnownExecutions()
  #served: { session: Session; labels: Labels } | null = null
  #hasBaseline = false
  #isRunning = false
  #watchersChanged = new AbortController()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  add(labels: Labels): Watch {
    const watcher = new Watcher(labels, (disposed) => this.#remove(disposed))
    this.#watchers.add(watcher)
    this.#noteChange()
    if (!this.#isRunning) {
      this.#isRunning = true
      this.#run()
        .catch((error: unknown) => this.#failAll(error))
        .finally(() => this.#reset())
    }
    return watcher
  }

  changed(view: ExecutionView): void {
    this.#known.observe(view)
    for (const watcher of this.#watchers) watcher.tell(view)
  }

  #remove(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    this.#noteChange()
  }

  #noteChange(): void {
    this.#watchersChanged.abort()
    this.#watchersChanged = new AbortController()
  }

  #failAll(error: unknown): void {
    for (const watcher of this.#watchers) watcher.fail(error)
    this.#watchers.clear()
  }

  #reset(): void {
    this.#known = new KnownExecutions()
    this.#served = null
    this.#hasBaseline = false
    this.#isRunning = false
  }

  async #run(): Promise<void> {
    while (this.#watchers.size > 0) {
      const { signal } = this.#watchersChanged
      const change = aborted(signal)
      const session = await Promise.race([this.#connection.session(), change])
      if (!session || signal.aborted) continue
      if (await this.#serve(session, this.#commonLabels())) {
        await Promise.race([session.ended, change])
      }
    }
  }

  /** True when the session's watch is what the watchers of this moment want. */
  async #serve(session: Session, labels: Labels): Promise<boolean> {
    const watchers = [...this.#watchers]
    const served = this.#served
    if (served?.session !== session || !sameLabels(served.labels, labels)) {
      const isServed = await this.#known.whileListing(() => this.#begin(session, labels))
      if (!isServed) return false
    }
    for (const watcher of watchers) watcher.begun()
    return true
  }

  async #begin(session: Session, labels: Labels): Promise<boolean> {
    const answer = await session.ask("watch", { labels })
    if (!answer.ok) return this.#notWatching(answer.failure)
    if (!(await this.#catchUp(session, labels))) return false
    this.#served = { session, labels }
    return true
  }

  async #catchUp(session: Session, labels: Labels): Promise<boolean> {
    if (!this.#hasBaseline || this.#served?.session === session) {
      this.#hasBaseline = await this.#known.begin(session, labels)
      return this.#hasBaseline
    }
    const missed = await this.#known.missed(session, labels)
    for (const view of missed ?? []) for (const watcher of this.#watchers) watcher.tell(view)
    return missed !== null
  }

  async #notWatching(why: AskFailure): Promise<false> {
    if (why.kind === "lost") return false
    if (!isTransient(why.failure)) throw new CallError(why.failure)
    const { closing } = this.#connection
    await delay(retryDelayMs(why.failure), this.#watchersChanged.signal, closing)
    return false
  }

  #commonLabels(): Labels {
    const [first, ...others] = [...this.#watchers].map((watcher) => watcher.labels)
    if (first === undefined) return {}
    return others.every((labels) => sameLabels(first, labels)) ? first : {}
  }
}

function sameLabels(one: Labels, other: Labels): boolean {
  const entries = Object.entries(one)
  if (entries.length !== Object.keys(other).length) return false
  return entries.every(([name, value]) => other[name] === value)
}
