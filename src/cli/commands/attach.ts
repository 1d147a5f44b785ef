import type { ExecutionView } from "../../protocol/execution-view.ts"
import { type Arguments, flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { ownFailure } from "../exit-code.ts"
import { type FollowOptions, follow } from "../terminal/follow.ts"

const options = {
  from: option("CURSOR", "start (default), tail for new output only, or a `next` cursor"),
  observe: flag("only watch: Ctrl-C detaches, and the command never waits for this reader"),
  interactive: flag("forward standard input", { short: "i" }),
  ...addressOptions,
}

export const attachCommand = command({
  usage: ["attach [OPTIONS] ID"],
  about: `\
Shows everything the execution has written and follows it until it ends; then exits as \`run\`
would have. Ctrl-C cancels the execution, a second Ctrl-C detaches. If the execution has a
terminal, every key goes to it, and Ctrl-P Ctrl-Q detaches.`,
  options,
  examples: {
    "come back to an execution": "cc-executor attach 7kq2mfa4",
    "watch new output without affecting it": "cc-executor attach --observe --from tail 7kq2mfa4",
  },
  operands: { atLeast: 1, atMost: 1, what: "The execution id" },
  failureExitCode: ownFailure,
  async run(context, { values, operands: [id = ""] }) {
    await using reached = await reach(context, values, "with-journal")
    const view = await reached.client.call("status", { execution_id: id })
    const execution = await reached.client.attach(view.execution_id, {
      from: values.from ?? "start",
      role: values.observe === true ? "observer" : "driver",
      encoding: "binary",
    })
    return await follow(context, execution, followOptions(context, values, view))
  },
})

function followOptions(
  context: Context,
  values: Arguments<typeof options>["values"],
  view: ExecutionView,
): FollowOptions {
  const isLive = view.state !== "ended"
  const isObserver = values.observe === true
  const hasTerminal = view.terminal !== null && !isObserver && isLive
  return {
    input: inputFor(context, hasTerminal, values.interactive === true && isLive && !isObserver),
    hasTerminal,
    mayCancel: isLive && !isObserver,
    onBrokenPipe: "detach",
    earlier: [],
  }
}

function inputFor(context: Context, hasTerminal: boolean, isWanted: boolean) {
  if (hasTerminal && context.stdin.kind === "terminal") return "keys"
  return isWanted ? "stream" : "none"
}
