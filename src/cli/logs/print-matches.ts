import type { Client } from "../../client/connect.ts"
import type { StreamName } from "../../execution/record.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { gapText } from "../terminal/show-output.ts"

export type MatchOptions = {
  text: string
  /** A place in the output, as `from` of the protocol. */
  from: string
  /** Null is both. */
  stream: StreamName | null
  timestamps: boolean
}

/** Prints every line with a text in it, with its number; answers whether there is one. */
export async function printMatches(
  context: Pick<Context, "stdout" | "stderr">,
  client: Client,
  { execution_id, bytes }: ExecutionView,
  { text, from, stream, timestamps }: MatchOptions,
): Promise<boolean> {
  // One that writes without end is not chased.
  const end = bytes.stdout + bytes.stderr
  const sought = { execution_id, text, ignore_case: true, limit: 1000 }
  const params = stream === null ? sought : { ...sought, stream }
  let isFound = false
  let place = from
  while (true) {
    const page = await client.call("transcript.search", { ...params, from: place })
    if (page.gap !== undefined) {
      await context.stderr.write(`cc-executor: ${gapText(page.gap)}\n`)
    }
    const matches = page.matches.filter(({ sequence }) => sequence < end)
    const lines = matches.map((match) => {
      const stamp = timestamps ? `${onOneLine(match.time)} ` : ""
      return `${match.line + 1}:${stamp}${onOneLine(match.text)}\n`
    })
    if (lines.length > 0) await context.stdout.write(lines.join(""))
    isFound ||= lines.length > 0
    if (page.complete || matches.length < page.matches.length) return isFound
    place = page.next
  }
}
