import type { Scope } from "../../src/execution/scope.ts"
import type { Caller } from "../../src/service/access/caller.ts"
import { localCaller } from "../../src/service/access/caller.ts"

/** The service's own user, who may do everything. */
export const localUser: Caller = localCaller("unix", "websocket")

/** Somebody with a token; `revoke` takes it from them. */
export function bearer(principal: string, ...scopes: Scope[]): Caller & { revoke(): void } {
  let isGood = true
  return {
    principal,
    scopes: new Set(scopes),
    address: "192.0.2.7",
    via: "websocket",
    isStillGood: () => isGood,
    revoke: () => {
      isGood = false
    },
  }
}
