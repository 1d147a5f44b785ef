import { Scope } from "../../execution/scope.ts"
import type { PeerProcess } from "../../protocol/ipc.ts"

/** Somebody who has shown who they are. */
export type Caller = {
  /** Whom an execution belongs to: `local`, a token's name, `cert:NAME`. */
  readonly principal: string
  readonly scopes: ReadonlySet<Scope>
  /** Where they are: an IP address, or `unix`. */
  readonly address: string
  /** The transport they use: `websocket`, `http`. */
  readonly via: string
  /** The node of the fleet that speaks for it; absent of one who has come here by itself. */
  readonly node?: string
  /** Of the token it has come with, if it was one. */
  readonly tokenId?: string
  /** A token may be revoked, or run out, while its bearer is connected. */
  isStillGood(): boolean
  /** Which process of this machine it is, as far as that can be told. */
  peer?(): PeerProcess | Promise<PeerProcess>
  /** Whether nobody waits for the answer any more, where that can be told. */
  isGone?(): boolean
}

/** The service's own user, or root: whoever could end the service may do everything with it. */
export const localPrincipal = "local"

export function localCaller(address: string, via: string): Caller {
  const scopes = new Set(Scope.options)
  return { principal: localPrincipal, scopes, address, via, isStillGood: () => true }
}
