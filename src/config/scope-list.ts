import { Scope } from "../execution/scope.ts"
import { type TextForm, textForm } from "./text-form.ts"

const allowed = `some of ${Scope.options.join(", ")}`

export function scopeList(): TextForm<Scope[]> {
  return textForm("<scopes>", allowed, readScopes, "separated by commas")
}

function readScopes(text: string): Scope[] | undefined {
  const named = new Set(
    text
      .toLowerCase()
      .split(",")
      .map((word) => word.trim()),
  )
  const known = Scope.options.filter((scope) => named.has(scope))
  return known.length === named.size ? known : undefined
}
