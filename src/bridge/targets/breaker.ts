import { fail, ok, type Result } from "../../lib/result.ts"

export type BreakerSettings = {
  /** So many failures in a row open it. */
  failures: number
  /** How long it stays open before somebody may try again. */
  waitMs: number
}

export type OpenCircuit = { sinceMs: number; untilMs: number; why: string }

export type BreakerState =
  | { kind: "closed"; failures: number }
  | ({ kind: "open" } & OpenCircuit)
  /** One request is trying; all others are refused until `untilMs`. */
  | ({ kind: "half-open" } & OpenCircuit)

/** A circuit breaker: nobody waits for a target that has failed many times in a row. */
export class Breaker {
  readonly #settings: BreakerSettings
  readonly #nowMs: () => number
  #state: BreakerState = { kind: "closed", failures: 0 }

  constructor(settings: BreakerSettings, nowMs: () => number) {
    this.#settings = settings
    this.#nowMs = nowMs
  }

  get state(): BreakerState {
    return this.#state
  }

  /** Asked before every try. Whoever may try reports `succeeded` or `failed`. */
  go(): Result<null, OpenCircuit> {
    const state = this.#state
    if (state.kind === "closed") return ok(null)
    const nowMs = this.#nowMs()
    if (nowMs < state.untilMs) return fail(state)
    // Whoever tries may never report: after the same wait, another one may try.
    this.#state = { ...state, kind: "half-open", untilMs: nowMs + this.#settings.waitMs }
    return ok(null)
  }

  succeeded(): void {
    this.#state = { kind: "closed", failures: 0 }
  }

  failed(why: string): void {
    const state = this.#state
    const nowMs = this.#nowMs()
    const open = { kind: "open", why, untilMs: nowMs + this.#settings.waitMs } as const
    switch (state.kind) {
      case "closed": {
        const failures = state.failures + 1
        const isOpen = failures >= this.#settings.failures
        this.#state = isOpen ? { ...open, sinceMs: nowMs } : { kind: "closed", failures }
        return
      }
      case "half-open":
        this.#state = { ...open, sinceMs: state.sinceMs }
        return
      case "open":
        return // it was sent before the circuit opened, and says nothing new
    }
  }
}
