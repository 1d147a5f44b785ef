import type { Encoding } from "../../protocol/execute.ts"
import type { Role } from "../../protocol/methods.ts"
import type { ClientLimits } from "../client-limits.ts"
import type { Connection } from "../connection/connection.ts"
import type { Session } from "../connection/session.ts"

export type DeliveryOptions = {
  executionId: string
  pid: number | null
  from: string
  role: Role
  encoding: Encoding
  output: "keep" | "ignore"
  /** Begins with what the terminal shows, each time it is attached. */
  screen: ScreenOptions | null
  /** What `execute` has attached already; null when it is still to be done. */
  attached: Attached | null
  /** Whether somebody waits to hear of a refusal, even one that would pass. */
  firstRefusalIsFinal: boolean
}

export type ScreenOptions = {
  /** Lines above the screen. */
  scrollback: number
  /** Of the terminal here, if it is one of those that decide how large the other one is. */
  size(): { cols: number; rows: number } | null
}

export type Attached = {
  session: Session
  subscription: number
  /** How much may be taken before an `ack`; null when the server waits for none. */
  ackAfterBytes: number | null
}

export type DeliveryWorld = {
  connection: Connection
  limits: ClientLimits
  /** Runs once, when nothing more will be delivered. */
  over: () => void
}
