import type { Log } from "../../lib/log.ts"
import type { Fields } from "../messages/message.ts"
import type { BridgeClock, RetryPolicy, TargetLimits } from "../ports.ts"
import type { KnownTarget } from "./known-target.ts"

/** What all clients of one target share. */
export type TargetContext = {
  target: KnownTarget
  retry: RetryPolicy
  limits: TargetLimits
  clock: BridgeClock
  log: Log
  /** What is added to the `_meta` of each `tools/call`, unless the client set it. */
  callMeta: () => Fields
}
