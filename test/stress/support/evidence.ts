import type { Service } from "../../support/service.ts"
import { summarize } from "./latency-summary.ts"
import { MemoryWatch } from "./memory-watch.ts"
import { nextScenario } from "./report-folder.ts"
import type { MemorySeries, Outcome, Scenario } from "./scenario.ts"

/**
 * A test's body whose evidence goes into the report: whether it passed, how long it took, and
 * whatever it measured on the way.
 */
export function reported(
  name: string,
  run: (evidence: Evidence) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const evidence = new Evidence(name)
    const keep = nextScenario()
    // A test that is given up for its time never comes to its end: this is what then stays.
    keep(evidence.toScenario({ kind: "unfinished" }))
    try {
      await run(evidence)
      keep(evidence.toScenario({ kind: "passed" }))
    } catch (error) {
      keep(evidence.toScenario({ kind: "failed", error: textOf(error) }))
      throw error
    }
  }
}

/** What a scenario measures. */
export class Evidence {
  readonly #name: string
  readonly #startedAt = new Date()
  readonly #startedMs = performance.now()
  readonly #latencies = new Map<string, number[]>()
  readonly #memory: MemorySeries[] = []
  readonly #counts = new Map<string, number>()
  readonly #notes: string[] = []
  #orphans = 0

  constructor(name: string) {
    this.#name = name
  }

  /** One sample; the report shows the count, p50, p99 and the slowest of each kind. */
  latency(what: string, ms: number): void {
    const samples = this.#latencies.get(what)
    if (samples === undefined) this.#latencies.set(what, [ms])
    else samples.push(ms)
  }

  /** Samples the memory of both processes until disposed; a name tells services apart. */
  watch(service: Service, name = ""): MemoryWatch {
    const known = this.#memory.find((series) => series.name === name)
    const series = known ?? { name, samples: [] }
    if (known === undefined) this.#memory.push(series)
    return new MemoryWatch(service, series.samples, () => performance.now() - this.#startedMs)
  }

  /** Processes that should not be there: they add up. */
  orphans(count: number): void {
    this.#orphans += count
  }

  /** Any other figure; told again, it adds up. */
  count(what: string, value: number): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + value)
  }

  note(text: string): void {
    this.#notes.push(text)
  }

  toScenario(outcome: Outcome): Scenario {
    return {
      name: this.#name,
      startedAt: this.#startedAt.toISOString(),
      durationMs: performance.now() - this.#startedMs,
      outcome,
      latencies: [...this.#latencies].map(([what, samples]) => summarize(what, samples)),
      memory: this.#memory,
      orphans: this.#orphans,
      counts: [...this.#counts].map(([what, value]) => ({ what, value })),
      notes: this.#notes,
    }
  }
}

function textOf(error: unknown): string {
  return Bun.stripANSI(error instanceof Error ? (error.stack ?? error.message) : String(error))
}
