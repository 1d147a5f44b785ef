import type { Distribution, MetricSample } from "../../protocol/metric-samples.ts"

/** How often values were up to each of some bounds. To observe one allocates nothing. */
export class Histogram {
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  /** What is no number, or below zero where a clock was set back, counts as zero. */
  observe(value: number): void {
    const observed = value > 0 ? value : 0
    let at = 0
    while (observed > (this.#bounds[at] ?? Infinity)) at += 1
    this.#counts[at] = (this.#counts[at] ?? 0) + 1
    this.#sum += observed
  }

  sample(labels: Record<string, string> = {}): Distribution {
    return { labels, bounds: [...this.#bounds], counts: [...this.#counts], sum: this.#sum }
  }
}

/** For what should take milliseconds. */
export const shortSeconds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const

/** For what takes as long as it takes: a program's first word, the end of a tree, a queue. */
export const longSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800,
] as const

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
