import type { Tell } from "./trial/progress.ts"
import type { SessionOptions } from "./trial/session-act.ts"

/** How a run is to act, whatever the work. */
export type RunOptions = {
  session: Pick<SessionOptions, "model" | "permission_mode">
  /** Of all trials of the run together. */
  maxCostUsd: number | null
  /** Of one act. */
  timeoutSeconds: number | null
  tell: Tell
  signal: AbortSignal
}

/** What a run may still spend. */
export class Spending {
  readonly #mostUsd: number | null
  #spentUsd = 0

  constructor(mostUsd: number | null) {
    this.#mostUsd = mostUsd
  }

  add(costUsd: number | null): void {
    this.#spentUsd += costUsd ?? 0
  }

  get spentUsd(): number {
    return this.#spentUsd
  }

  get isOver(): boolean {
    return this.#mostUsd !== null && this.#spentUsd >= this.#mostUsd
  }

  /** For one more session; null for as much as it takes. */
  get leftUsd(): number | null {
    return this.#mostUsd === null ? null : this.#mostUsd - this.#spentUsd
  }
}
