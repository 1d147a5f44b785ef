import { type Caller, localPrincipal } from "../service/access/caller.ts"
import { isAdmin, maySee } from "../service/access/permission.ts"
import type { Viewer } from "../service/gateway/ports.ts"

/** Who is local to a node is local there only: elsewhere the node is part of the name. */
export function principalInFleet(principal: string, node: string): string {
  return principal === localPrincipal ? `${localPrincipal}@${node}` : principal
}

/** A caller of this node as other nodes know it: admin there only if not by being local here. */
export function callerInFleet(caller: Caller, node: string): Caller {
  const { principal, scopes, ...rest } = caller
  if (principal !== localPrincipal) return caller
  const elsewhere = new Set([...scopes].filter((scope) => scope !== "admin"))
  return {
    ...rest,
    principal: principalInFleet(principal, node),
    scopes: elsewhere,
    isStillGood: () => caller.isStillGood(),
  }
}

/** Null for who may see everything of all nodes. */
export function viewerInFleet(caller: Caller, node: string): Viewer | null {
  const known = callerInFleet(caller, node)
  if (isAdmin(known)) return null
  return { principal: known.principal, maySee: (owned) => maySee(known, owned) }
}
