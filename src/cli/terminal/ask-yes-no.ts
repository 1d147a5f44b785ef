import type { Context } from "../context.ts"
import { askLines } from "./ask-line.ts"

/**
 * Asks before something is ended that cannot be begun again. Where nobody can answer, whoever wrote
 * the script has decided already.
 */
export async function askYesNo(
  context: Pick<Context, "stdin" | "stderr">,
  question: string,
): Promise<boolean> {
  if (context.stdin.kind !== "terminal" || !context.stderr.isTty) return true
  using asking = askLines(context)
  const answer = await asking.ask(`${question} [y/N] `)
  return /^y(?:es)?$/i.test(answer ?? "")
}
