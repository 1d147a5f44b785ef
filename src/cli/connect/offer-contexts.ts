import type { Candidate } from "../completion/offer.ts"
import type { Context } from "../context.ts"
import { CommandFailure } from "../failure.ts"
import { localName, readContexts } from "./saved-contexts.ts"

/** The contexts that a person may mean, for a shell: a broken file has none. */
export function offerContexts(context: Pick<Context, "env" | "home">): Candidate[] {
  const local = { value: localName, about: "the local service" }
  try {
    const saved = Object.entries(readContexts(context).contexts)
    return [...saved.map(([value, { url }]) => ({ value, about: url })), local]
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error
    return [local]
  }
}
