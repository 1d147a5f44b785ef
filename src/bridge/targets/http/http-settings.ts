import type { Log } from "../../../lib/log.ts"
import type { Fields } from "../../messages/message.ts"
import type { BridgeClock, RetryPolicy, TargetLimits } from "../../ports.ts"
import type { KnownTarget } from "../known-target.ts"
import type { Exchange } from "./http-exchange.ts"

export type HttpEndpoint = {
  url: string
  tls: Exchange["tls"]
  /** Again for every request: a token file may have got a newer one. */
  authorization: () => Record<string, string>
}

export type HttpTargetSettings = {
  target: KnownTarget
  http: HttpEndpoint
  retry: RetryPolicy
  clock: BridgeClock
  log: Log
  limits: TargetLimits
  callMeta: () => Fields
}
