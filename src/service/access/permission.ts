import { type Owned, shareLabels } from "../../execution/record.ts"
import type { Scope } from "../../execution/scope.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type Failure, failure } from "../../protocol/failure.ts"
import type { MethodName } from "../../protocol/methods.ts"
import type { Caller } from "./caller.ts"

/** These are about the session's own subscription: what opened it has been permitted. */
type OfSubscription = "ack" | "detach"

/** The scope each method needs, over whatever transport it is called. */
export const scopeOf: Record<Exclude<MethodName, OfSubscription>, Scope> = {
  execute: "execute",
  control: "control",
  input: "control",
  resize: "control",
  remove: "control",
  attach: "read",
  watch: "read",
  list: "read",
  status: "read",
  receipt: "read",
  "transcript.read": "read",
  "transcript.verify": "read",
}

/** Whether a caller may use a scope now; `admin` has all of them. */
export function permit(caller: Caller, scope: Scope): Result<null, Failure> {
  if (!caller.isStillGood()) return fail(noLongerGood)
  if (caller.scopes.has(scope) || isAdmin(caller)) return ok(null)
  const has = [...caller.scopes].join(", ")
  const message =
    `${caller.principal} may not do this: it needs the scope \`${scope}\`, but has ${has}. ` +
    "Use a token with that scope."
  return fail(failure("FORBIDDEN", message, { scope }))
}

export function isAdmin(caller: Caller): boolean {
  return caller.scopes.has("admin")
}

export const noLongerGood = failure(
  "UNAUTHORIZED",
  "The token was revoked or has expired: reconnect with another one.",
)

/** What a caller may not see does not exist for it. */
export function maySee(caller: Caller, owned: Owned): boolean {
  return maySteer(caller, owned) || isInvited(caller, owned.labels[shareLabels.see])
}

export function maySteer(caller: Caller, owned: Owned): boolean {
  if (caller.principal === owned.principal || isAdmin(caller)) return true
  return isInvited(caller, owned.labels[shareLabels.steer])
}

function isInvited({ principal }: Caller, guests: string | undefined): boolean {
  const names = guests?.split(",").map((name) => name.trim()) ?? []
  return names.includes("*") || names.includes(principal)
}
