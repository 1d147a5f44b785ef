import { flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { ownFailure } from "../exit-code.ts"
import { follow } from "../terminal/follow.ts"

export const attachCommand = command({
  usage: ["attach [OPTIONS] ID"],
  about: `\
Shows everything the execution has written and follows it until it ends; then exits as \`run\`
would have. Ctrl-C cancels the execution, a second Ctrl-C detaches. If the execution has a
terminal, every key goes to it, and Ctrl-P Ctrl-Q detaches.`,
  options: {
    from: option("CURSOR", "start (default), tail for new output only, or a `next` cursor"),
    observe: flag("only watch: Ctrl-C detaches, and the command never waits for this reader"),
    interactive: flag("forward standard input", { short: "i" }),
    ...addressOptions,
  },
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
    // Who only observes, or comes after the end, has nothing to say.
    const mayCancel = view.state !== "ended" && values.observe !== true
    const hasTerminal = view.terminal !== null && mayCancel
    return await follow(context, execution, {
      input: inputFor(context, hasTerminal, values.interactive === true && mayCancel),
      hasTerminal,
      mayCancel,
      onBrokenPipe: "detach",
      earlier: [],
    })
  },
})

function inputFor({ stdin }: Context, hasTerminal: boolean, isWanted: boolean) {
  if (hasTerminal && stdin.kind === "terminal") return "keys"
  return isWanted ? "stream" : "none"
}
