import type { Message } from "./messages/message.ts"

/** Takes what the target says to a client; resolves when there is room for more. */
export type Deliver = (message: Message) => Promise<void>

/** The target, as one client sees it; connections to it may come and go. */
export interface BridgeTarget {
  /** Sends a message of the client's; resolves when there is room for more. */
  send(message: Message): Promise<void>
  /** Requests without an answer. */
  readonly requests: {
    readonly size: number
    /** Resolves when there are none, apart from streams that have no answer. */
    settled(): Promise<void>
  }
  /** Whether something waits for a connection to the target. */
  readonly isWaiting: boolean
  /** What a new connection needs to know to go on with this session. */
  readonly resumeState: ResumeState
  /** `ended`: the client is done for good; `suspended`: it may resume later. */
  close(how: "ended" | "suspended"): Promise<void>
}

/** A session of the legacy era, without its connection. */
export type ResumeState = {
  /** The `params` of the client's `initialize`, as they were written; null without one. */
  initialize: string | null
  /** Over HTTP: the target's own id for the session, and the revision it chose. */
  targetSession: string | null
  version: string | null
}

export const noResumeState: ResumeState = { initialize: null, targetSession: null, version: null }

export type OpenTarget = (deliver: Deliver, resumeState: ResumeState) => BridgeTarget

export interface BridgeClock {
  monotonicMs(): number
  wallMs(): number
  /** Resolves after the time, or when the signal is aborted. */
  sleep(ms: number, until: AbortSignal): Promise<void>
  random(): number
}

export type TargetLimits = {
  /** The largest message, in either direction. */
  messageBytes: number
  /** Messages of one client that wait for a connection, and as many requests for an answer. */
  messages: number
  /** Of one client, in each direction: received, and not taken by the other side. */
  bufferedBytes: number
}

export type RetryPolicy = {
  tries: number
  /** From the first failure: no try begins later than this. */
  forMs: number
  firstDelayMs: number
  maxDelayMs: number
}
