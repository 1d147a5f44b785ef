import type { Client } from "../../client/connect.ts"
import { mostScrollbackLines } from "../../protocol/screen.ts"
import { flag, option } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { ownFailure } from "../exit-code.ts"
import { UsageFailure } from "../failure.ts"
import { detachKeysOption, detachSequence } from "../terminal/detach-keys.ts"
import { follow } from "../terminal/follow.ts"
import type { EndingSignal } from "../terminal/interrupts.ts"
import { linesForGrowth } from "../terminal/screen/terminal-output.ts"
import { whoAnswers } from "../terminal/who-answers.ts"
import { countOption } from "../time.ts"

export const attachCommand = command({
  usage: ["attach [OPTIONS] ID"],
  about: `\
Shows everything the execution has written and follows it until it ends; then exits as \`run\`
would have. Ctrl-C leaves the execution running; \`cancel\` ends it. If the execution has a
terminal, its screen is shown, as it is now, every key goes to it, Ctrl-C too, and Ctrl-] Ctrl-]
detaches (--detach-keys) and brings back what was here before. Several may type; the screen is as
large as fits on all of their terminals, and has a frame on larger ones.`,
  options: {
    from: option(
      "CURSOR",
      "all bytes from start (default), tail (from now on), or a `next` cursor",
    ),
    scrollback: option("N", "of a terminal: print N lines above its screen first"),
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
    const scrollback =
      values.scrollback === undefined ? 0 : countOption("--scrollback", values.scrollback)
    if (scrollback > 0 && from !== undefined) {
      throw new UsageFailure("--scrollback: goes with the screen, not with output --from a cursor.")
    }
    await using reached = await reach(context, values, "with-journal")
    return await attach(context, reached.client, id, {
      from,
      observe,
      interactive,
      detachKeys,
      scrollback,
    })
  },
})

export type AttachOptions = {
  /** Where bytes begin; without it, a terminal shows its screen. */
  from?: string | undefined
  /** Lines above that screen. */
  scrollback?: number
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
  options: AttachOptions,
): Promise<number> {
  const { from, observe = false, interactive = false, detachKeys, earlier = [] } = options
  const view = await client.call("status", { execution_id: id })
  // Who only observes, or comes after the end, has nothing to say.
  const maySteer = view.state !== "ended" && !observe
  const linesAbove = Math.min(options.scrollback ?? 0, mostScrollbackLines)
  // A screen that becomes higher shows lines that were above it.
  const scrollback = Math.max(linesAbove, linesForGrowth)
  const size = () => (maySteer ? context.terminalSize() : null)
  const showsScreen = view.terminal !== null && context.stdout.isTty && from === undefined
  const execution = await client.attach(view.execution_id, {
    from: from ?? "start",
    role: observe ? "observer" : "driver",
    encoding: "binary",
    ...(showsScreen && { screen: { scrollback, size } }),
  })
  const terminal = view.terminal === null ? "none" : maySteer ? "steered" : "watched"
  return follow(context, execution, {
    input: inputFor(context, terminal === "steered", interactive && maySteer),
    terminal,
    queries: await whoAnswers(client),
    linesAbove,
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
