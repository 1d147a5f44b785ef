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
  "agent.start": "execute",
  "agent.send": "execute",
  "agent.answer": "control",
  "agent.interrupt": "control",
  "agent.end": "control",
  "agent.configure": "control",
  "agent.status": "read",
  "agent.inbox": "read",
  "agent.changes": "read",
  "agent.take": "control",
  "agent.drop": "control",
  "trial.begin": "attest",
  "trial.renew": "attest",
  "trial.end": "attest",
  "trial.status": "read",
  "trial.list": "read",
  "notify.list": "read",
  "notify.test": "execute",
  "node.list": "read",
  "node.drain": "admin",
  "node.undrain": "admin",
  "node.forget": "admin",
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
  screen: "read",
  "transcript.read": "read",
  "transcript.search": "read",
  "transcript.verify": "read",
}

/**
 * Whether a caller may use these scopes now; `admin` has all of them. Whatever takes several steps
 * asks for all that they need before the first one: what is refused must not be half done.
 */
export function permit(caller: Caller, ...scopes: readonly Scope[]): Result<null, Failure> {
  if (!caller.isStillGood()) return fail(noLongerGood)
  const missing = isAdmin(caller) ? [] : scopes.filter((scope) => !caller.scopes.has(scope))
  const [scope] = missing
  if (scope === undefined) return ok(null)
  const has = [...caller.scopes].join(", ")
  const needed = missing.map((one) => `\`${one}\``).join(" and ")
  const message =
    `${caller.principal} may not do this: it needs the scope ${needed}, but has ${has}. ` +
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

/** The questions of an agent are for those who may steer its session. */
export function mayAnswer(caller: Caller, owned: Owned): boolean {
  return maySteer(caller, owned)
}

function maySteer(caller: Caller, owned: Owned): boolean {
  return ownsOrRules(caller, owned) || isInvited(caller, owned.labels[shareLabels.steer])
}

/** Guests may steer what is shared with them; whether it is kept is its owner's to decide. */
export function permitRemoval(
  caller: Caller,
  id: string,
  owned: Owned | null,
): Result<null, Failure> {
  if (owned === null || ownsOrRules(caller, owned)) return ok(null) // that it is gone others say
  const message =
    `Execution ${id} belongs to ${owned.principal}: those it is shared with can control it, but ` +
    "not remove it. Only its owner or an admin can."
  return fail(failure("FORBIDDEN", message))
}

export function permitSteering(caller: Caller, id: string, owned: Owned): Result<null, Failure> {
  if (maySteer(caller, owned)) return ok(null)
  const message = `Execution ${id} is shared with ${caller.principal} for reading only.`
  return fail(failure("FORBIDDEN", message))
}

function ownsOrRules(caller: Caller, owned: Owned): boolean {
  return caller.principal === owned.principal || isAdmin(caller)
}

function isInvited({ principal }: Caller, guests: string | undefined): boolean {
  const names = guests?.split(",").map((name) => name.trim()) ?? []
  return names.includes("*") || names.includes(principal)
}
