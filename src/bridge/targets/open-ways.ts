import { delay } from "../../lib/delay.ts"
import { idempotencyKeyMeta } from "../../protocol/mcp-meta-keys.ts"
import type { Fields } from "../messages/message.ts"
import type { BridgeClock, BridgeLog, OpenWay, RetryPolicy, WayLimits } from "../ports.ts"
import { Breaker, type BreakerSettings } from "./breaker.ts"
import type { HttpTarget } from "./http/http-settings.ts"
import { HttpWay } from "./http/http-way.ts"
import { KnownTarget } from "./known-target.ts"
import type { OpenLink } from "./linked/link.ts"
import { LinkedWay } from "./linked/linked-way.ts"

/** What a bridge leads to. */
export type Target = {
  /** For messages and logs: never with a secret in it. */
  name: string
  /** Whether it is known to be a cc-executor, before it has said so. */
  isOurs: boolean
} & ({ kind: "linked"; open: OpenLink } | { kind: "http"; http: HttpTarget })

export type WaySettings = {
  retry: RetryPolicy
  breaker: BreakerSettings
  limits: WayLimits
  clock: BridgeClock
  log: BridgeLog
  /** What every `tools/call` gets besides its idempotency key. */
  callMeta: Fields
}

/** Ways to one target: they share its circuit, and what is known about its tools. */
export function openWays(target: Target, settings: WaySettings): OpenWay {
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
    return (client, memory) => new HttpWay({ ...common, http }, client, memory)
  }
  const { open } = target
  return (client, memory) => new LinkedWay({ ...common, open }, client, memory)
}

function randomKey(): string {
  return crypto.getRandomValues(new Uint8Array(16)).toHex()
}

const mebibyte = 1024 * 1024

export const standardMessageBytes = 16 * mebibyte

/** Bounds that follow from the largest message that may pass. */
export function wayLimits(messageBytes: number): WayLimits {
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
