import type { Message } from "./messages/message.ts"

/** The client's side of a way. */
export interface ClientEnd {
  /** Resolves when there is room for more: who writes to it waits. */
  deliver(message: Message): Promise<void>
}

/** One client's way to the target; connections may come and go on it. */
export interface Way {
  /** Takes a message of the client's; resolves when there is room for more. */
  take(message: Message): Promise<void>
  /** Requests without an answer. */
  readonly underWay: number
  /** Whether something waits for a connection to the target. */
  readonly isWaiting: boolean
  /** When no request is without an answer, apart from streams that have none. */
  settled(): Promise<void>
  /** What a new connection would need to know to go on where this one was. */
  readonly memory: WayMemory
  /** `ended`: the client is done for good; `put-away`: it may come back, on another way. */
  close(how: "ended" | "put-away"): Promise<void>
}

/** What a session of the legacy era is made of, apart from the connection. */
export type WayMemory = {
  /** The `params` of the client's `initialize`, as they were written; null without one. */
  initialize: string | null
  /** Over HTTP: the target's own id for the session, and the revision it chose. */
  targetSession: string | null
  version: string | null
}

export const noMemory: WayMemory = { initialize: null, targetSession: null, version: null }

export type OpenWay = (client: ClientEnd, memory: WayMemory) => Way

/** Time and chance. */
export interface BridgeClock {
  monotonicMs(): number
  wallMs(): number
  /** Until the time is over, or the signal is aborted. */
  sleep(ms: number, until: AbortSignal): Promise<void>
  random(): number
}

/** Where the bridge tells what happens; the service's log has the same form. */
export interface BridgeLog {
  debug(facts: Facts, event: string): void
  info(facts: Facts, event: string): void
  warn(facts: Facts, event: string): void
  error(facts: Facts, event: string): void
}
type Facts = { readonly [name: string]: unknown } & { readonly [Name in Taken]?: never }
type Taken = "level" | "time" | "process" | "processId" | "msg"

export type WayLimits = {
  /** The largest message, either way. */
  messageBytes: number
  /** Requests of one client without an answer. */
  requests: number
  /** Messages of one client that wait for a connection to the target. */
  waitingMessages: number
  waitingBytes: number
  /** Of one connection: received, and not taken by the other side. */
  unreadBytes: number
}

export type RetryPolicy = {
  tries: number
  /** From the first failure; what would come later is not tried. */
  forMs: number
  firstDelayMs: number
  maxDelayMs: number
}
