import { AutoResetEvent } from "../../lib/auto-reset-event.ts"
import { ignoreUnhandledRejection } from "../../lib/ignore-unhandled-rejection.ts"
import type { Labels } from "../../protocol/execute.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"

/** Changes of state, until disposed. */
export interface Watch extends AsyncIterable<ExecutionView>, Disposable {
  /** From here on no change is missed. */
  readonly ready: Promise<void>
}

type Ending = { kind: "open" } | { kind: "disposed" } | { kind: "failed"; error: unknown }

export class Watcher implements Watch {
  readonly labels: Labels
  readonly #ready = Promise.withResolvers<void>()
  readonly ready = this.#ready.promise

  readonly #disposed: (watcher: Watcher) => void
  readonly #views = new ViewQueue()
  readonly #arrived = new AutoResetEvent()
  #ending: Ending = { kind: "open" }

  constructor(labels: Labels, disposed: (watcher: Watcher) => void) {
    this.labels = labels
    this.#disposed = disposed
    ignoreUnhandledRejection(this.ready)
  }

  begun(): void {
    this.#ready.resolve()
  }

  tell(view: ExecutionView): void {
    const wanted = Object.entries(this.labels)
    if (!wanted.every(([name, value]) => view.labels[name] === value)) return
    this.#views.push(view)
    this.#arrived.set()
  }

  fail(error: unknown): void {
    this.#ready.reject(error)
    this.#close({ kind: "failed", error })
  }

  [Symbol.dispose](): void {
    this.#close({ kind: "disposed" })
    this.#disposed(this)
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<ExecutionView, void, void> {
    for (;;) {
      const view = this.#views.shift()
      if (view !== undefined) yield view
      else if (this.#ending.kind === "failed") throw this.#ending.error
      else if (this.#ending.kind === "disposed") return
      else await this.#arrived.wait()
    }
  }

  #close(ending: Ending): void {
    if (this.#ending.kind === "open") this.#ending = ending
    this.#arrived.set()
  }
}

const compactAtViews = 1_000

/**
 * Views one watcher has not taken yet. Past a thousand, only the latest of each execution is kept:
 * a watcher that slow learns every execution's state, not every state's name.
 */
export class ViewQueue {
  #views: ExecutionView[] = []
  #compactAt = compactAtViews

  push(view: ExecutionView): void {
    this.#views.push(view)
    if (this.#views.length >= this.#compactAt) this.#compact()
  }

  shift(): ExecutionView | undefined {
    return this.#views.shift()
  }

  #compact(): void {
    const latest = new Map(this.#views.map((view) => [view.execution_id, view]))
    this.#views = [...latest.values()]
    this.#compactAt = Math.max(compactAtViews, 2 * this.#views.length)
  }
}
