import { realpathSync } from "node:fs"
import type { OwnedRule } from "../../execution/judge-question.ts"
import { errnoOf } from "../../lib/errno.ts"

/** Rules with their directories as they are compared: a process knows its own by its real path. */
export function withRealDirectories(rules: readonly OwnedRule[]): OwnedRule[] {
  return rules.map((rule) =>
    rule.directory === undefined ? rule : { ...rule, directory: realPathOf(rule.directory) },
  )
}

/** The path itself where nothing is there, or nothing can be seen. */
export function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return path
  }
}
