import { countText } from "../../../lib/count-text.ts"
import { onOneLine } from "../../../lib/harmless-text.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"

export const agentTakeCommand = command({
  usage: ["agent take [OPTIONS] ID"],
  about: `\
Takes what a session has changed in its worktree, once the session has ended: its commits are merged
into the branch that the worktree was made from; what it has not committed is added to the files
there, not committed either. Then the worktree is removed. If anything conflicts with that branch,
or with your own changes that are not committed, it says so and changes nothing.`,
  options: { ...addressOptions },
  examples: { "take its work": "cc-executor agent take 7kq2mfa4" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [execution_id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    const taken = await reached.client.call("agent.take", { execution_id })
    const { into, commits, files, added, removed, uncommitted } = taken
    const merged = commits === 0 ? [] : [`${countText(commits, "commit")} merged`]
    const left =
      uncommitted === 0 ? [] : [`changes in ${countText(uncommitted, "file")} not committed`]
    const what = [`${countText(files, "file")} +${added} −${removed}`, ...merged, ...left]
    await context.stdout.write(
      `Taken into ${onOneLine(into)}: ${what.join(", ")}. Its worktree and its branch are gone.\n`,
    )
    return 0
  },
})
