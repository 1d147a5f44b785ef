import { fail, ok, type Result } from "../../lib/result.ts"

export type BreakerSettings = {
  /** So many failures in a row open it. */
  failures: number
  /** How long it stays open before somebody may try again. */
  waitMs: number
}

export type BreakerState =
  | { kind: "closed"; failures: number }
  | { kind: "open"; sinceMs: number; untilMs: number; why: string }
  /** One is trying; whoever else comes before `untilMs` is refused. */
  | { kind: "half-open"; sinceMs: number; untilMs: number; why: string }

export type BreakerEvent =
  | { kind: "tried" }
  | { kind: "succeeded" }
  | { kind: "failed"; why: string }

const closedBreaker: BreakerState = { kind: "closed", failures: 0 }

/** Whether one may try now: not while it is open, and one at a time after that. */
function mayTry(state: BreakerState, nowMs: number): boolean {
  return state.kind === "closed" || nowMs >= state.untilMs
}

function breakerTransition(
  state: BreakerState,
  event: BreakerEvent,
  nowMs: number,
  settings: BreakerSettings,
): BreakerState {
  switch (event.kind) {
    case "tried":
      if (state.kind === "closed" || nowMs < state.untilMs) return state
      // Who tries may never come back: after the same wait, another one may.
      return { ...state, kind: "half-open", untilMs: nowMs + settings.waitMs }
    case "succeeded":
      return closedBreaker
    case "failed":
      return failed(state, event.why, nowMs, settings)
  }
}

function failed(
  state: BreakerState,
  why: string,
  nowMs: number,
  settings: BreakerSettings,
): BreakerState {
  const untilMs = nowMs + settings.waitMs
  switch (state.kind) {
    case "closed": {
      const failures = state.failures + 1
      if (failures < settings.failures) return { kind: "closed", failures }
      return { kind: "open", sinceMs: nowMs, untilMs, why }
    }
    case "half-open":
      return { kind: "open", sinceMs: state.sinceMs, untilMs, why }
    // A request that was in flight when it opened says nothing new.
    case "open":
      return state
  }
}

export type OpenCircuit = { sinceMs: number; untilMs: number; why: string }

/** Keeps clients of a target that does not answer from waiting for it, each by themselves. */
export class Breaker {
  readonly #settings: BreakerSettings
  readonly #nowMs: () => number
  #state: BreakerState = closedBreaker

  constructor(settings: BreakerSettings, nowMs: () => number) {
    this.#settings = settings
    this.#nowMs = nowMs
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Asked before every try; who goes says how it went. */
  go(): Result<null, OpenCircuit> {
    const nowMs = this.#nowMs()
    const state = this.#state
    if (state.kind !== "closed" && !mayTry(state, nowMs)) return fail(state)
    this.#take({ kind: "tried" })
    return ok(null)
  }

  succeeded(): void {
    this.#take({ kind: "succeeded" })
  }

  failed(why: string): void {
    this.#take({ kind: "failed", why })
  }

  #take(event: BreakerEvent): void {
    this.#state = breakerTransition(this.#state, event, this.#nowMs(), this.#settings)
  }
}
