import type { Log } from "../../../lib/log.ts"
import type { Caller } from "../../access/caller.ts"
import type { Answer, Operations, Refusals } from "../../gateway/ports.ts"

/** What MCP needs of the gateway it is served by. */
export type McpPorts = {
  operations: Operations
  refusals: Refusals
  version: string
  log: Log
  /** Searches of one caller, one after another. */
  searches: SearchScheduler
  ownProgram: OwnProgram
  monotonicMs(): number
  after(delayMs: number, run: () => void): Disposable
}

/** How this program is started as a command of the service, about the service itself. */
export type OwnProgram = {
  readonly self: readonly string[]
  readonly stateDir: string
  /** Whom commands run as; null is the service's own user. */
  readonly runAs: string | null
}

export interface SearchScheduler {
  run<Value>(caller: Caller, work: () => Answer<Value>): Answer<Value>
}

/** Whom a server is made for: one for every connection, or for every request over HTTP. */
export type McpScope = McpPorts & {
  caller: Caller
  /** Its connection is about to be closed: whoever waits answers now, with what is known. */
  closing: AbortSignal
  /** The same, but another gateway follows: calls that will be sent to it again may wait there. */
  replacing: AbortSignal
}
