import type { Result } from "../../../lib/result.ts"

/** One connection to the target that carries messages both ways: a WebSocket, or pipes. */
export interface Link {
  readonly isOpen: boolean
  /** Resolves when there is room for more. Does nothing on a closed connection. */
  send(text: string): Promise<void>
  readonly ended: Promise<LinkEnd>
  /** Resolves when the connection, and a process behind it, are gone. */
  close(): Promise<void>
}

export type LinkEnd = {
  why: string
  /** Whether trying again on a new connection may help. */
  isTransient: boolean
}

export type LinkFailure = LinkEnd & {
  /** Whether a server has answered, with a refusal. */
  hasAnswered: boolean
}

/** Takes the text of a message. The next one follows when its promise has resolved. */
export type Received = (text: string) => Promise<void>

export type OpenLink = (received: Received, want: Want) => Promise<Result<Link, LinkFailure>>

/** `hasNew`: a new message waits for the connection; otherwise it is only being kept. */
export type Want = { hasNew: () => boolean; signal: AbortSignal }
