import { fail, ok, type Result } from "../../lib/result.ts"
import { suggest } from "../../lib/suggest.ts"
import type { Suite, SuiteCategory } from "./suite.ts"

/** The categories with these names, in the order of the file; all where none is named. */
export function selectCategories(
  { categories }: Suite,
  names: readonly string[],
): Result<SuiteCategory[], string> {
  const known = categories.map(({ name }) => name)
  for (const name of names) {
    if (known.includes(name)) continue
    const meant = suggest(name, known)
    const hint = meant === null ? "" : ` Did you mean ${meant}?`
    return fail(`There is no category ${name}: there are ${known.join(", ")}.${hint}`)
  }
  return ok(categories.filter(({ name }) => names.length === 0 || names.includes(name)))
}
