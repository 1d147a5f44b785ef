import { printConversation } from "../../agents/print-conversation.ts"
import { canView } from "../../agents/view/can-view.ts"
import { NoticeOutput } from "../../agents/view/notice-output.ts"
import { command } from "../../command.ts"
import { addressOptions } from "../../connect/address.ts"
import { reach } from "../../connect/reach.ts"
import { CommandFailure } from "../../failure.ts"
import { untilTold } from "../../terminal/interrupts.ts"

export const agentAttachCommand = command({
  usage: ["agent attach [OPTIONS] ID"],
  about: `\
Sits down in front of a session: shows what was said last and goes on with what is said now. Type
what to do next; y, n, e and a answer a question. Ctrl-C interrupts the turn, twice leaves, and so
does Ctrl-D. Several people may sit in one session. Without a terminal it prints the conversation
until the session ends.`,
  options: { ...addressOptions },
  examples: { "come back to a session": "cc-executor agent attach 7kq2mfa4" },
  operands: { atLeast: 1, atMost: 1, what: "The session's id" },
  async run(context, { values, operands: [id = ""] }) {
    const stderr = new NoticeOutput(context.stderr)
    await using reached = await reach({ ...context, stderr }, values, "with-journal")
    const { client } = reached
    const view = await client.call("status", { execution_id: id })
    if (!view.agent) {
      throw new CommandFailure("This is not an agent's session: use `cc-executor attach`.")
    }
    if (canView(context)) {
      const { viewAttached } = await import("../../agents/view/open-view.ts")
      return await viewAttached(context, stderr, client, view)
    }
    using told = untilTold(context)
    await printConversation(context, client, view, { isFollowed: true, until: told.signal })
    return told.exitCode ?? 0
  },
})
