import {
  type AnswerMessage,
  type Fields,
  isFields,
  isSubscription,
  type RequestMessage,
} from "../messages/message.ts"
import { headersIn, type ParamHeader, paramHeaders } from "../messages/param-headers.ts"
import { gaveUpRepeating, lostWithoutRepeat, mayHaveBeenDone, type Problem } from "../problem.ts"
import type { Breaker } from "./breaker.ts"

const serverInfoKey = "io.modelcontextprotocol/serverInfo"
const ownName = "cc-executor"
const mostTools = 10_000

type Tool = { mayBeRepeated: boolean; headers: readonly ParamHeader[] }

export type SentRequest = {
  readonly request: RequestMessage
  /** How often it was sent. */
  sends: number
  /** Whether the target has reported progress. */
  hasBegun: boolean
}

/** What the bridge knows of its target, learned from its answers. */
export class KnownTarget {
  /** For messages and logs: never with a secret in it. */
  readonly name: string
  readonly breaker: Breaker
  readonly #tools = new Map<string, Tool>()
  #isOurs: boolean

  constructor(name: string, breaker: Breaker, isOurs = false) {
    this.name = name
    this.breaker = breaker
    this.#isOurs = isOurs
  }

  /** Whether it is cc-executor: it starts things once per key, so most calls can be repeated. */
  get isOurs(): boolean {
    return this.#isOurs
  }

  learn(request: RequestMessage, { result }: AnswerMessage): void {
    if (result === null) return
    const name = serverName(result)
    if (name !== null) this.#isOurs = name === ownName
    if (request.method === "tools/list") this.#learnTools(result["tools"])
  }

  /** Whether it is safe to send a request twice, as far as is known. */
  mayBeRepeated(request: RequestMessage): boolean {
    if (request.method !== "tools/call") return true
    if (this.#isOurs) return ownCallMayRepeat(request.params)
    return this.#toolOf(request)?.mayBeRepeated ?? true
  }

  /** Why a request whose connection was lost is not sent again; null when it is. */
  whyNotResent(sent: SentRequest, lostWhy: string, mostSends: number): Problem | null {
    const { request, sends, hasBegun } = sent
    if (isSubscription(request)) return null
    if (hasBegun && !this.#isOurs) return lostWithoutRepeat(this.name, request.method, lostWhy)
    if (!this.mayBeRepeated(request)) return mayHaveBeenDone(this.name, request, lostWhy)
    return sends < mostSends ? null : gaveUpRepeating(this.name, sends, lostWhy)
  }

  /** Headers that repeat arguments of a call, where the tool asks for them. */
  headersFor(request: RequestMessage): Record<string, string> {
    const headers = request.method === "tools/call" ? this.#toolOf(request)?.headers : undefined
    return paramHeaders(headers ?? [], request.params["arguments"])
  }

  #toolOf({ params }: RequestMessage): Tool | undefined {
    const { name } = params
    return typeof name === "string" ? this.#tools.get(name) : undefined
  }

  #learnTools(tools: unknown): void {
    if (!Array.isArray(tools)) return
    const list: readonly unknown[] = tools
    for (const tool of list) {
      if (!isFields(tool) || typeof tool["name"] !== "string") continue
      if (this.#tools.size >= mostTools && !this.#tools.has(tool["name"])) continue
      const hints = isFields(tool["annotations"]) ? tool["annotations"] : {}
      const isRisky = hints["idempotentHint"] === false && hints["readOnlyHint"] !== true
      const headers = headersIn(tool["inputSchema"])
      this.#tools.set(tool["name"], { mayBeRepeated: !isRisky, headers })
    }
  }
}

/** In the answer to `initialize`, or in any answer of the modern era. */
function serverName(result: Fields): string | null {
  const meta = result["_meta"]
  const info = result["serverInfo"] ?? (isFields(meta) ? meta[serverInfoKey] : null)
  return isFields(info) && typeof info["name"] === "string" ? info["name"] : null
}

/**
 * Whether a `tools/call` to cc-executor may be sent again after its answer was lost. By the call's
 * key it starts things once. Signals have no key; input is written once only if the call says at
 * which offset.
 */
function ownCallMayRepeat(params: Fields): boolean {
  const { name, arguments: args } = params
  if (name === "signal") return false
  if (name !== "input") return true
  return typeof args === "object" && args !== null && "offset" in args
}
