import type { Client } from "../../client/connect.ts"
import { flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { ownFailure } from "../exit-code.ts"
import { detachKeysOption, detachSequence } from "../terminal/detach-keys.ts"
import { follow } from "../terminal/follow.ts"
import type { EndingSignal } from "../terminal/interrupts.ts"

export const attachCommand = command({
  usage: ["attach [OPTIONS] ID"],
  about: `\
Shows everything the execution has written and follows it until it ends; then exits as \`run\`
would have. Ctrl-C leaves the execution running; \`cancel\` ends it. If the execution has a
terminal, every key goes to it, Ctrl-C too, and Ctrl-] Ctrl-] detaches (--detach-keys).`,
  options: {
    from: option("CURSOR", "start (default), tail for new output only, or a `next` cursor"),
    observe: flag("only watch: no key goes to it, and it never waits for this reader"),
    interactive: flag("forward standard input", { short: "i" }),
    ...detachKeysOption,
    ...addressOptions,
  },
  examples: {
    "come back to an execution": "cc-executor attach 7kq2mfa4",
    "watch new output without affecting it": "cc-executor attach --observe --from tail 7kq2mfa4",
  },
  operands: { atLeast: 1, atMost: 1, what: "The execution id" },
  failureExitCode: ownFailure,
  async run(context, { values, operands: [id = ""] }) {
    const detachKeys = detachSequence(values["detach-keys"])
    const { from, observe, interactive } = values
    await using reached = await reach(context, values, "with-journal")
    return await attach(context, reached.client, id, { from, observe, interactive, detachKeys })
  },
})

export type AttachOptions = {
  from?: string | undefined
  observe?: boolean | undefined
  interactive?: boolean | undefined
  /** What leaves a terminal when it is typed; null where nothing does. */
  detachKeys: Uint8Array | null
  /** Signals that came before there was anything to follow. */
  earlier?: readonly EndingSignal[]
}

/** Shows an execution until it ends or is left; answers the exit code. */
export async function attach(
  context: Context,
  client: Client,
  id: string,
  { from = "start", observe = false, interactive = false, detachKeys, earlier = [] }: AttachOptions,
): Promise<number> {
  const view = await client.call("status", { execution_id: id })
  const execution = await client.attach(view.execution_id, {
    from,
    role: observe ? "observer" : "driver",
    encoding: "binary",
  })
  // Who only observes, or comes after the end, has nothing to say.
  const maySteer = view.state !== "ended" && !observe
  const terminal = view.terminal === null ? "none" : maySteer ? "steered" : "watched"
  return follow(context, execution, {
    input: inputFor(context, terminal === "steered", interactive && maySteer),
    terminal,
    detachKeys,
    mayCancel: false,
    onBrokenPipe: "detach",
    earlier,
  })
}

function inputFor({ stdin }: Context, steersTerminal: boolean, isWanted: boolean) {
  if (steersTerminal && stdin.kind === "terminal") return "keys"
  return isWanted ? "stream" : "none"
}
