import type { Activity } from "../../execution/agent.ts"
import { activityOf, type Doing } from "./activity.ts"
import type { HostClock } from "./host-clock.ts"

const tickMs = 5_000
/** Who looks at its own clock this late has been held up itself. */
const heldUpMs = 3 * tickMs

type Tool = { name: string; lastSignMs: number }

/** What only the session knows. */
export type Circumstances = Omit<Doing, "startedMs" | "tool" | "heardMs" | "isCompacting">

/** Hears when an agent gives a sign of life, and tells what it does, or that it does nothing. */
export class Liveliness implements Disposable {
  readonly #clock: HostClock
  readonly #look: () => void
  readonly #tools = new Map<string, Tool>()
  #startedMs: number
  #heardMs: number
  #lookedMs: number
  #isCompacting = false
  #ticker: Disposable
  #activity: Activity

  /** `look` is called every now and then: a silence changes what is told without any event. */
  constructor(clock: HostClock, look: () => void) {
    this.#clock = clock
    this.#look = look
    this.#startedMs = clock.monotonicMs()
    this.#heardMs = this.#startedMs
    this.#lookedMs = this.#startedMs
    this.#ticker = clock.after(tickMs, () => this.#tick())
    const since = clock.now().toISOString()
    this.#activity = { state: "starting", awaited: "the agent's program to be ready", since }
  }

  get activity(): Activity {
    return this.#activity
  }

  started(): void {
    this.#startedMs = this.#clock.monotonicMs()
    this.heard()
    this.stopped()
  }

  heard(): void {
    this.#heardMs = this.#clock.monotonicMs()
  }

  /** Nothing of what was under way is any more: a turn has ended, or the program has. */
  stopped(): void {
    this.#tools.clear()
    this.#isCompacting = false
  }

  compacting(isOver: boolean): void {
    this.#isCompacting = !isOver
  }

  toolStarted(id: string, name: string): void {
    this.#tools.set(id, { name, lastSignMs: this.#clock.monotonicMs() })
  }

  toolProgressed(id: string): void {
    const tool = this.#tools.get(id)
    if (tool !== undefined) tool.lastSignMs = this.#clock.monotonicMs()
  }

  toolEnded(id: string): void {
    this.#tools.delete(id)
  }

  /** What it does now; null when that is what was told before. */
  change(circumstances: Circumstances): Activity | null {
    const activity = activityOf(
      {
        ...circumstances,
        startedMs: this.#startedMs,
        heardMs: this.#heardMs,
        isCompacting: this.#isCompacting,
        tool: [...this.#tools.values()].at(-1) ?? null,
      },
      this.#clock.monotonicMs(),
    )
    const { since: before, ...told } = this.#activity
    if (JSON.stringify(told) === JSON.stringify(activity)) return null
    const since = told.state === activity.state ? before : this.#clock.now().toISOString()
    this.#activity = { ...activity, since }
    return this.#activity
  }

  [Symbol.dispose](): void {
    this.#ticker[Symbol.dispose]()
  }

  #tick(): void {
    const nowMs = this.#clock.monotonicMs()
    const gapMs = nowMs - this.#lookedMs
    // Paused, or on a machine that slept: the agent was held up as well.
    if (gapMs > heldUpMs) this.#excuse(gapMs)
    this.#lookedMs = nowMs
    this.#look()
    this.#ticker = this.#clock.after(tickMs, () => this.#tick())
  }

  #excuse(gapMs: number): void {
    this.#heardMs += gapMs
    this.#startedMs += gapMs
    for (const tool of this.#tools.values()) tool.lastSignMs += gapMs
  }
}
