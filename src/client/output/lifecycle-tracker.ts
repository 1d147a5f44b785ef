import type { StateKind } from "../../execution/state.ts"
import type { LifeEvent } from "./execution-event.ts"

/**
 * What has been told of an execution's life. Notices are not part of the transcript, so they can
 * be missed while away and repeated by an attach: each is told once, and what a state implies is
 * made up for.
 */
export class LifecycleTracker {
  readonly #told = new Set<LifeEvent["kind"]>()
  #pid: number | null
  #isPaused = false

  constructor(pid: number | null) {
    this.#pid = pid
  }

  get pid(): number | null {
    return this.#pid
  }

  /** The pid is in the status, not in the answer to an attach. */
  learnPid(pid: number | null): void {
    this.#pid ??= pid
  }

  fromState(state: StateKind): LifeEvent[] {
    const started = this.#pid === null ? [] : this.fromNotice("started", this.#pid)
    if (state === "paused") return [...started, ...this.fromNotice("paused", null)]
    if (state === "running") return [...started, ...this.fromNotice("resumed", null)]
    return started
  }

  fromNotice(kind: LifeEvent["kind"], pid: number | null): LifeEvent[] {
    this.learnPid(pid)
    return this.#isChange(kind) ? [{ kind, pid: this.#pid }] : []
  }

  #isChange(kind: LifeEvent["kind"]): boolean {
    if (kind === "started" || kind === "canceled") {
      const isNew = !this.#told.has(kind)
      this.#told.add(kind)
      return isNew
    }
    const wasPaused = this.#isPaused
    this.#isPaused = kind === "paused"
    return this.#isPaused !== wasPaused
  }
}
