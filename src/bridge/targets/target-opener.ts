import { delay } from "../../lib/delay.ts"
import { idempotencyKeyMeta } from "../../protocol/mcp-meta-keys.ts"
import type { Fields } from "../messages/message.ts"
import type { BridgeClock, OpenTarget, TargetLimits } from "../ports.ts"
import { Breaker, type BreakerSettings } from "./breaker.ts"
import type { HttpEndpoint } from "./http/http-exchange.ts"
import { HttpTarget } from "./http/http-target.ts"
import { KnownTarget } from "./known-target.ts"
import type { OpenLink } from "./reconnecting/link.ts"
import { ReconnectingTarget } from "./reconnecting/reconnecting-target.ts"
import type { TargetContext } from "./target-context.ts"

/** The server that a bridge forwards to. */
export type TargetDescription = {
  /** For messages and logs: never with a secret in it. */
  name: string
  /** Whether it is known to be cc-executor before it says so. */
  isOurs: boolean
} & ({ kind: "connection"; open: OpenLink } | { kind: "http"; http: HttpEndpoint })

export type TargetSettings = Omit<TargetContext, "target" | "callMeta"> & {
  breaker: BreakerSettings
  /** What every `tools/call` gets besides its idempotency key. */
  callMeta: Fields
}

/** Opens one target for many clients, which share its circuit and what is known of its tools. */
export function targetOpener(target: TargetDescription, settings: TargetSettings): OpenTarget {
  const { clock, breaker } = settings
  const known = new KnownTarget(
    target.name,
    new Breaker(breaker, () => clock.monotonicMs()),
    target.isOurs,
  )
  const callMeta = () => ({ ...settings.callMeta, [idempotencyKeyMeta]: randomKey() })
  const context = { ...settings, target: known, callMeta }
  if (target.kind === "http") {
    const { http } = target
    return (deliver, resumeState) => new HttpTarget({ ...context, http }, deliver, resumeState)
  }
  const { open } = target
  return (deliver, resumeState) =>
    new ReconnectingTarget({ ...context, open }, deliver, resumeState)
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex()
}

export const standardMessageBytes = 16 * 1024 * 1024

/** Limits that follow from the size of the largest message. */
export function targetLimits(messageBytes: number): TargetLimits {
  return { messageBytes, messages: 1_000, bufferedBytes: 2 * messageBytes }
}

export const systemClock: BridgeClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms, until) => delay(ms, until),
  random: () => Math.random(),
}
