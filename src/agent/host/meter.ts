import type { Tokens, Usage } from "../../execution/agent.ts"
import type { TotalUsage } from "../port.ts"

type ByModel = Usage["by_model"]

/**
 * What a session has used. The agent tells totals after a turn, and counts anew when its program is
 * started again; in between, tokens are added up as they are told.
 */
export class Meter {
  #before: ByModel = {} // of programs that are gone
  #costBefore = 0
  #told: TotalUsage = { costUsd: 0, byModel: {}, contextWindow: null }
  #sinceTold = none
  #contextTokens: number | null = null
  /** Answers of the model, of the agent itself and not of its subagents. */
  responses = 0

  addTokens(tokens: Tokens): void {
    this.#sinceTold = sum(this.#sinceTold, tokens)
    const context = tokens.input + tokens.cache_read + tokens.cache_creation
    if (context > 0) this.#contextTokens = context
  }

  setTotal(told: TotalUsage): void {
    this.#told = told
    this.#sinceTold = none
  }

  /** It goes on with a session that has used this. */
  goOnFrom({ cost_usd, tokens, by_model }: Usage, responses: number): void {
    const counted = Object.values(by_model).reduce<Tokens>(sum, none)
    const rest = difference(tokens, counted) // what was not told by model
    const unknown = countOf(rest) > 0 ? { unknown: { ...rest, cost_usd: 0 } } : {}
    this.#before = addUp(by_model, unknown)
    this.#costBefore = cost_usd
    this.responses = responses
  }

  /** The agent's program is gone: the next one counts from nothing. */
  restart(): void {
    this.#before = addUp(this.#before, this.#told.byModel)
    this.#costBefore += this.#told.costUsd
    if (countOf(this.#sinceTold) > 0) {
      this.#before = addUp(this.#before, { unknown: { ...this.#sinceTold, cost_usd: 0 } })
    }
    this.#told = { ...this.#told, costUsd: 0, byModel: {} }
    this.#sinceTold = none
  }

  /** Of every kind. */
  tokens(): number {
    return countOf(this.usage().tokens)
  }

  usage(): Usage {
    const by_model = addUp(this.#before, this.#told.byModel)
    const told = Object.values(by_model).reduce<Tokens>(sum, none)
    return {
      cost_usd: round(this.#costBefore + this.#told.costUsd),
      tokens: sum(told, this.#sinceTold),
      by_model,
      context_tokens: this.#contextTokens,
      context_window: this.#told.contextWindow,
    }
  }
}

const none: Tokens = { input: 0, output: 0, cache_read: 0, cache_creation: 0 }

function sum(one: Tokens, other: Tokens): Tokens {
  return {
    input: added(one.input, other.input),
    output: added(one.output, other.output),
    cache_read: added(one.cache_read, other.cache_read),
    cache_creation: added(one.cache_creation, other.cache_creation),
  }
}

/** An agent may tell anything: a sum that is no number any more would be refused everywhere. */
function added(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER)
}

function difference(one: Tokens, other: Tokens): Tokens {
  return {
    input: Math.max(0, one.input - other.input),
    output: Math.max(0, one.output - other.output),
    cache_read: Math.max(0, one.cache_read - other.cache_read),
    cache_creation: Math.max(0, one.cache_creation - other.cache_creation),
  }
}

function countOf({ input, output, cache_read, cache_creation }: Tokens): number {
  return input + output + cache_read + cache_creation
}

function addUp(one: ByModel, other: ByModel): ByModel {
  const all = { ...one }
  for (const [model, usage] of Object.entries(other)) {
    const earlier = all[model] ?? { ...none, cost_usd: 0 }
    all[model] = { ...sum(earlier, usage), cost_usd: round(earlier.cost_usd + usage.cost_usd) }
  }
  return all
}

/** Sums of dollars are no more exact than their parts. */
function round(dollars: number): number {
  return Math.round(dollars * 1e9) / 1e9
}
