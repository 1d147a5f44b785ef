import { chosenFlags, loadConfig } from "../../config/config.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import type { Context } from "../context.ts"
import { asSentence, CommandFailure } from "../failure.ts"
import { backgroundService } from "./background-word.ts"

type Flags = Readonly<Record<string, string | true>>

/**
 * What this program is started with to be a service that nobody waits for. All its settings are
 * flags: those of the command whose environment it has are not those of a later `serve`.
 */
export function backgroundArguments(
  { env, home }: Pick<Context, "env" | "home">,
  flags: Flags,
  paths: StatePaths,
  more: readonly string[],
): string[] {
  const chosen = chosenFlags({ flags, env, home })
  return [backgroundService, ...chosen, `--state-dir=${paths.directory}`, ...more]
}

/** Said by whoever knows the variables, and not by a service that knows only flags. */
export function checkVariables({ env, home }: Pick<Context, "env" | "home">): void {
  const config = loadConfig({ flags: {}, env, home })
  if (config.ok) return
  const messages = config.failure.map(({ message }) => asSentence(message))
  throw new CommandFailure(`The service cannot be started. ${messages.join("\n  ")}`)
}
