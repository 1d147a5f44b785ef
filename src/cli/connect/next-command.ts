import type { Context } from "../context.ts"
import { quoted } from "../executions/execution-text.ts"

/** The options that say which service is meant, and who is asking. */
const serviceOptionNames: readonly string[] = [
  "url",
  "token-file",
  "state-dir",
  "ca-file",
  "client-cert",
  "client-key",
  "context",
]

/** Those of them that were given, as they would be typed again. */
export function serviceOptions(
  given: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  return serviceOptionNames.flatMap((name) => {
    const value = given[name]
    return value === undefined ? [] : [`--${name}`, quoted(value)]
  })
}

/** A command that somebody may type next, for the same service as this one's. */
export function nextCommand(
  { serviceOptions: options }: Pick<Context, "serviceOptions">,
  command: string,
  ...words: readonly string[]
): string {
  return ["cc-executor", command, ...options, ...words].join(" ")
}
