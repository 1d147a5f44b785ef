import type { AgentSpec, BudgetUse } from "../../execution/agent.ts"
import type { Meter } from "./meter.ts"

const warningShare = 0.8

/** What a session may use, and how much of it is gone. */
export class Budgets {
  readonly #spec: AgentSpec
  readonly #meter: Meter
  readonly #warned: BudgetUse[] = []

  constructor(spec: AgentSpec, meter: Meter) {
    this.#spec = spec
    this.#meter = meter
  }

  get countsCost(): boolean {
    return this.#spec.maxCostUsd !== null
  }

  /** The one that more than all of was used of; null where there is none. */
  exceeded(): BudgetUse | null {
    return this.#uses().find(({ used, limit }) => used > limit) ?? null
  }

  /** The one that has nothing left for another turn. */
  usedUp(): BudgetUse | null {
    return this.#uses().find(({ used, limit }) => used >= limit) ?? null
  }

  /** Those that have come close to their limits since this was last asked. */
  warnings(): BudgetUse[] {
    const close = this.#uses().filter(({ budget, used, limit }) => {
      return used >= warningShare * limit && !this.#warned.some((one) => one.budget === budget)
    })
    this.#warned.push(...close)
    return close
  }

  /** All that were warned of. */
  get warned(): readonly BudgetUse[] {
    return this.#warned
  }

  #uses(): BudgetUse[] {
    const { maxTurns, maxCostUsd, maxTokens } = this.#spec
    const uses = [
      { budget: "turns" as const, limit: maxTurns, used: this.#meter.responses },
      { budget: "cost" as const, limit: maxCostUsd, used: this.#meter.usage().cost_usd },
      { budget: "tokens" as const, limit: maxTokens, used: this.#meter.tokens() },
    ]
    return uses.flatMap(({ limit, ...use }) => (limit === null ? [] : [{ ...use, limit }]))
  }
}
