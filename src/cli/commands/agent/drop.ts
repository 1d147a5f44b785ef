import { countText } from "../../../lib/count-text.ts"
import { onOneLine } from "../../../lib/harmless-text.ts"
import type { ResultOf } from "../../../protocol/methods.ts"
import { flag } from "../../arguments.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentDropCommand = command({
  usage: ["agent drop [OPTIONS] ID"],
  about: `\
Removes the worktree of a session that has ended, and its branch. Work that is nowhere else, commits
or changes that are not committed, is only dropped with --force; it says then which commit has it
still, until git collects garbage.`,
  options: { force: flag("drop work that is nowhere else"), ...addressOptions },
  examples: { "it came to nothing": "cc-executor agent drop --force 7kq2mfa4" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [execution_id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    const force = values.force === true
    const dropped = await reached.client.call("agent.drop", { execution_id, force })
    await context.stdout.write(`${droppedText(dropped)}\n`)
    return 0
  },
})

function droppedText({ commits, uncommitted, ignored, kept }: ResultOf<"agent.drop">): string {
  const lost = [
    ...(commits === 0 ? [] : [countText(commits, "commit")]),
    ...(uncommitted === 0 ? [] : [`changes in ${countText(uncommitted, "file")}`]),
    ...(ignored === 0 ? [] : [`${ignored} that git ignored`]),
  ]
  const what = lost.length === 0 ? "nothing was in it" : `with ${lost.join(", ")}`
  const back =
    kept === null ? "" : ` To have the work back: git branch NAME ${onOneLine(kept.slice(0, 12))}`
  return `Dropped, ${what}.${back}`
}
