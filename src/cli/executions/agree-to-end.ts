import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { askYesNo } from "../terminal/ask-yes-no.ts"
import { asLines } from "../terminal/terminal-text.ts"
import { executionTable } from "./execution-table.ts"

/** Lists what is about to be ended, and asks on a terminal unless it is decided. */
export async function agreeToEnd(
  context: Context,
  views: readonly ExecutionView[],
  { verb, isDecided }: { verb: string; isDecided: boolean },
): Promise<boolean> {
  const { stderr } = context
  await stderr.write(asLines(executionTable({ ...context, stdout: stderr }, views)))
  if (isDecided) return true
  const what = views.length === 1 ? "this execution" : `these ${views.length} executions`
  return askYesNo(context, `${verb} ${what}?`)
}
