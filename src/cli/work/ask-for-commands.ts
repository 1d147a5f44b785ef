import { userInfo } from "node:os"
import { fixStatus } from "../../workflow/run/review/fix-status.ts"
import { giveVerification } from "../../workflow/run/review/give-verification.ts"
import type { Context } from "../context.ts"
import { askLines } from "../terminal/ask-line.ts"
import { inWorld } from "./in-world.ts"

/** On a terminal, asks what verifications in prose mean; what is not answered stays open. */
export async function askForCommands(
  context: Context,
  values: { "state-dir"?: string | undefined },
  path: string,
  only: string | null,
): Promise<void> {
  if (context.stdin.kind !== "terminal" || !context.stderr.isTty) return
  await inWorld(context, values, async (world) => {
    const { tasks = [] } = await fixStatus(world, path)
    using asking = askLines(context)
    for (const { id, severity, title, verification, checks } of tasks) {
      if (checks.length > 0 || (only !== null && only !== id)) continue
      const run = await asking.ask([
        `Fix ${id} (${severity}): ${title}\n`,
        `Its verification is prose, which is not run: ${verification ?? "none"}\n`,
        "A command that fails now, and succeeds once it is fixed (nothing: leave it open): ",
      ])
      if (run === null) return
      const by = userInfo().username
      if (run !== "") await giveVerification(world, path, { fix: id, run, spoil: null, by })
    }
  })
}
