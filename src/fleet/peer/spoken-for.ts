import { z } from "zod"
import { Scope } from "../../execution/scope.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import { type Caller, localPrincipal } from "../../service/access/caller.ts"

/** The first that a node says on a connection: for whom it speaks there. */
export const mostHelloBytes = 4096

/** Who has asked a node for something that another node is to do. */
export const SpokenFor = z.object({
  principal: z.string().min(1).max(300),
  scopes: z.array(Scope),
  address: z.string().max(64),
  via: z.string().max(32),
})
export type SpokenFor = z.infer<typeof SpokenFor>

export function spokenFor({ principal, scopes, address, via }: Caller): SpokenFor {
  return { principal, scopes: [...scopes], address, via }
}

/**
 * The caller for whom a node speaks. It is believed what the node says of its own callers, and of
 * nobody else's: who is local there is local there only, and admin of nothing here.
 */
export function callerOf(
  hello: unknown,
  node: string,
  isMember: () => boolean,
): Result<Caller, Failure> {
  const said = SpokenFor.safeParse(hello)
  if (!said.success) return fail(unreadable)
  const asked = said.data
  const { principal, address, via } = asked
  const ownLocal = `${localPrincipal}@${node}`
  const isLocal = principal === localPrincipal || principal === ownLocal
  const isOthers = !isLocal && principal.startsWith(`${localPrincipal}@`)
  if (isOthers) return fail(notItsCaller(node, principal))
  const scopes = isLocal ? asked.scopes.filter((scope) => scope !== "admin") : asked.scopes
  return ok({
    principal: isLocal ? ownLocal : principal,
    scopes: new Set(scopes),
    address,
    via,
    node,
    isStillGood: isMember,
    peer: () => ({ kind: "elsewhere" }),
  })
}

const unreadable = failure(
  "INVALID_REQUEST",
  "A node says first for whom it speaks on a connection, and this one did not.",
)

function notItsCaller(node: string, principal: string): Failure {
  const message =
    `Node ${node} speaks for ${JSON.stringify(principal)}, who is local to a node: ` +
    "a node speaks only for those who come to it."
  return failure("FORBIDDEN", message)
}
