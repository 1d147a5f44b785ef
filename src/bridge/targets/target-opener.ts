import { delay } from "../../lib/delay.ts"
import type { Log } from "../../lib/log.ts"
import { idempotencyKeyMeta } from "../../protocol/mcp-meta-keys.ts"
import type { Fields } from "../messages/message.ts"
import type { BridgeClock, OpenTarget, RetryPolicy, TargetLimits } from "../ports.ts"
import { Breaker, type BreakerSettings } from "./breaker.ts"
import type { HttpEndpoint } from "./http/http-settings.ts"
import { HttpTarget } from "./http/http-target.ts"
import { KnownTarget } from "./known-target.ts"
import type { OpenLink } from "./reconnecting/link.ts"
import { ReconnectingTarget } from "./reconnecting/reconnecting-target.ts"

/** What a bridge leads to. */
export type TargetDescription = {
  /** For messages and logs: never with a secret in it. */
  name: string
  /** Whether it is known to be a cc-executor, before it has said so. */
  isOurs: boolean
} & ({ kind: "linked"; open: OpenLink } | { kind: "http"; http: HttpEndpoint })

export type TargetSettings = {
  retry: RetryPolicy
  breaker: BreakerSettings
  limits: TargetLimits
  clock: BridgeClock
  log: Log
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
  const common = { ...settings, target: known, callMeta }
  if (target.kind === "http") {
    const { http } = target
    return (client, resumeState) => new HttpTarget({ ...common, http }, client, resumeState)
  }
  const { open } = target
  return (client, resumeState) => new ReconnectingTarget({ ...common, open }, client, resumeState)
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex()
}

const mebibyte = 1024 * 1024

export const standardMessageBytes = 16 * mebibyte

/** Bounds that follow from the largest message that may pass. */
export function targetLimits(messageBytes: number): TargetLimits {
  return {
    messageBytes,
    requests: 1_000,
    waitingMessages: 1_000,
    waitingBytes: 2 * messageBytes,
    unreadBytes: 2 * messageBytes,
  }
}

export const systemClock: BridgeClock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sleep: (ms, until) => delay(ms, until),
  random: () => Math.random(),
}
