import type { McpScope } from "../ports.ts"

const longestSliceMs = 4
const longestRestMs = 50

/** Long work in short slices, with a rest as long as each took: others have half of the time. */
export class Slices {
  readonly #scope: Pick<McpScope, "monotonicMs" | "after">
  #startedMs: number

  constructor(scope: Pick<McpScope, "monotonicMs" | "after">) {
    this.#scope = scope
    this.#startedMs = scope.monotonicMs()
  }

  /** To be called often: it comes back at once unless a slice is over. */
  async rest(): Promise<void> {
    const tookMs = this.#scope.monotonicMs() - this.#startedMs
    if (tookMs < longestSliceMs) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#scope.after(Math.min(tookMs, longestRestMs), resolve)
    await promise
    this.#startedMs = this.#scope.monotonicMs()
  }
}
