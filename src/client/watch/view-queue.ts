import type { ExecutionView } from "../../protocol/execution-view.ts"

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
