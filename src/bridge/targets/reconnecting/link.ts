import type { Result } from "../../../lib/result.ts"

/** One connection to the target that carries messages both ways: a WebSocket, or pipes. */
export interface Link {
  readonly isOpen: boolean
  /** Resolves when there is room for more. Nothing is said of what is sent into a closed one. */
  send(text: string): Promise<void>
  readonly ended: Promise<LinkEnd>
  /** Resolves when nothing of it is left. */
  close(): Promise<void>
}

export type LinkEnd = {
  why: string
  /** Whether the same messages may do better on another connection. */
  isTransient: boolean
}

export type LinkFailure = LinkEnd & {
  /** Somebody is there, and says no. */
  hasAnswered: boolean
}

/** Texts of messages, one after the other: the next one when the promise is kept. */
export type Received = (text: string) => Promise<void>

export type OpenLink = (received: Received, want: Want) => Promise<Result<Link, LinkFailure>>

/** `hasNew`: somebody waits to send for the first time; else a connection is only kept up. */
export type Want = { hasNew: () => boolean; signal: AbortSignal }
