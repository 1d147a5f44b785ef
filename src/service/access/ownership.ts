import { type Owned, shareLabels } from "../../execution/sharing.ts"
import type { Caller } from "./caller.ts"
import { isAdmin } from "./permission.ts"

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
