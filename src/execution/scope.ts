import { z } from "zod"

export const Scope = z.enum(["execute", "control", "read", "attest", "metrics", "admin"])
export type Scope = z.infer<typeof Scope>

/** Each at most once and always in the same order, however they were given. */
export function inOrder(scopes: readonly Scope[]): Scope[] {
  return Scope.options.filter((scope) => scopes.includes(scope))
}
