import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { flag, repeatable } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import { meantExecution } from "../executions/meant-execution.ts"
import { UsageFailure } from "../failure.ts"
import { dependsOnMode, type KeyMode, keyBytes } from "../terminal/key-names.ts"

export const sendCommand = command({
  usage: ["send [OPTIONS] ID TEXT…", "send [OPTIONS] ID -", "send --key KEYS ID", "send --end ID"],
  about: `\
Returns when the command's pipe has taken everything. Texts are joined by spaces and end as a line
that is typed: with Enter on a terminal, with a newline elsewhere; - sends this program's own
standard input unchanged. The execution must have been started with an open standard input:
\`run -i\`, \`run -t\` or a pipe. Others may write to it at the same time.`,
  options: {
    end: flag("close its standard input afterwards"),
    key: repeatable("KEYS", "then press keys, such as Enter,Ctrl-C,Up,y", { short: "k" }),
    "no-newline": flag("send the text alone, without the end of a line", { short: "n" }),
    ...addressOptions,
  },
  examples: {
    "answer a question": "cc-executor send 7kq2mfa4 yes",
    "interrupt a program on a terminal": "cc-executor send --key Ctrl-C 7kq2mfa4",
    "send a file and close": "cc-executor send --end 7kq2mfa4 - < list.txt",
  },
  operands: {
    atLeast: 1,
    what: "The execution id",
  },
  async run(context, args) {
    const [typed = "", ...texts] = args.operands
    const { end = false, "no-newline": noNewline = false } = args.values
    const keys = (args.values.key ?? []).flatMap((names) => names.split(","))
    for (const key of keys) keyBytes(key) // all of them are keys before the first is pressed
    if (texts.length === 0 && keys.length === 0 && !end) {
      throw new UsageFailure("Nothing to send: give a text, - for standard input, --key or --end.")
    }
    await using reached = await reach(context, args.values, "with-journal")
    const { client } = reached
    const { id } = await meantExecution(client, typed)
    const input = client.input(id)
    if (texts.length === 1 && texts[0] === "-") {
      const never = new AbortController().signal
      for await (const chunk of context.stdin.chunks(never)) await input.write(chunk)
    } else if (texts.length > 0) {
      const lineEnd = noNewline ? "" : await lineEndOf(client, id)
      await input.write(texts.join(" ") + lineEnd)
    }
    if (keys.length > 0) {
      const mode = keys.some(dependsOnMode) ? await keyModeOf(client, id) : "normal"
      await input.write(keys.map((key) => keyBytes(key, mode)).join(""))
    }
    if (end) await input.end()
    return 0
  },
})

/** A program on a terminal may have asked for other arrow keys, as `less` and `vim` do. */
async function keyModeOf(client: Client, id: string): Promise<KeyMode> {
  try {
    const { modes } = await client.call("screen", { execution_id: id })
    return modes.application_cursor_keys ? "application" : "normal"
  } catch (error) {
    // It has no terminal, or the service knows of no screens: then keys send what they always do.
    if (error instanceof CallError) return "normal"
    throw error
  }
}

/** A full-screen program takes a line feed for another key than Enter. */
async function lineEndOf(client: Client, id: string): Promise<string> {
  const { terminal } = await client.call("status", { execution_id: id })
  return terminal === null ? "\n" : "\r"
}
