import type { Client } from "../../client/connect.ts"
import { maxInputBytes } from "../../protocol/methods.ts"
import { flag } from "../arguments.ts"
import { command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import { UsageFailure } from "../failure.ts"

export const sendCommand = command({
  usage: ["send [OPTIONS] ID TEXT…", "send [OPTIONS] ID -", "send --end ID"],
  about: `\
Returns when the command's pipe has taken everything. Texts are joined by spaces and get a
newline; - sends this program's own standard input unchanged. The execution must have been started
with an open standard input: \`run -i\`, \`run -t\` or a pipe.`,
  options: {
    end: flag("close its standard input afterwards"),
    "no-newline": flag("send the text without a newline", { short: "n" }),
    ...addressOptions,
  },
  examples: {
    "answer a question": "cc-executor send 7kq2mfa4 yes",
    "send a file and close": "cc-executor send --end 7kq2mfa4 - < list.txt",
  },
  operands: {
    atLeast: 1,
    what: "The execution id",
  },
  async run(context, args) {
    const [id = "", ...texts] = args.operands
    const { end = false, "no-newline": noNewline = false } = args.values
    if (texts.length === 0 && !end) {
      throw new UsageFailure("Nothing to send: give a text, - for standard input, or --end.")
    }
    await using reached = await reach(context, args.values, "with-journal")
    const { client } = reached
    if (texts.length === 1 && texts[0] === "-") {
      const never = new AbortController().signal
      for await (const chunk of context.stdin.chunks(never)) await sendBytes(client, id, chunk)
    } else if (texts.length > 0) {
      const text = texts.join(" ") + (noNewline ? "" : "\n")
      await sendBytes(client, id, Buffer.from(text))
    }
    if (end) await client.call("input", { execution_id: id, end })
    return 0
  },
})

/** Without an offset: what two senders send at once is appended, not taken for a repetition. */
async function sendBytes(client: Client, id: string, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length; sent += maxInputBytes) {
    const data = bytes.subarray(sent, sent + maxInputBytes).toBase64()
    await client.call("input", { execution_id: id, data, encoding: "base64" })
  }
}
