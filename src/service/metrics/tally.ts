import type { MetricSample } from "../../protocol/metric-samples.ts"

/** Counts by the value of one label. Those that are known beforehand are told as zero, too. */
export class Tally<Key extends string> {
  readonly #label: string
  readonly #counts = new Map<Key, number>()

  constructor(label: string, known: readonly Key[]) {
    this.#label = label
    for (const key of known) this.#counts.set(key, 0)
  }

  add(key: Key, count = 1): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + count)
  }

  samples(): MetricSample[] {
    return [...this.#counts].map(([key, value]) => ({ labels: { [this.#label]: key }, value }))
  }
}
