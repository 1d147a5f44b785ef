import type { Client } from "../../client/connect.ts"
import { SessionLog, type SessionNotice } from "../../client/session-log.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import type { ExecutionView } from "../../protocol/execution-view.ts"
import type { Context } from "../context.ts"
import { followedOutput, type LogEvent, pastOutput } from "../logs/log-chunk.ts"
import { coloursFor } from "../terminal/colours.ts"
import { asLines } from "../terminal/terminal-text.ts"
import { Conversation } from "./view/conversation.ts"
import { type Line, rowsOf } from "./view/line.ts"

export type PrintOptions = {
  /** Until the session ends. */
  isFollowed?: boolean
  /** Only the last lines of what has been said so far. */
  tail?: number | null
  since?: Date | null
  timestamps?: boolean
  until?: AbortSignal
}

/** Prints what was said and done in a session, for people. */
export async function printConversation(
  context: Pick<Context, "stdout" | "env">,
  client: Client,
  view: ExecutionView,
  options: PrintOptions = {},
): Promise<void> {
  const { stdout } = context
  const colours = coloursFor(stdout, context.env)
  const reader = new ConversationReader(options)
  const print = async (lines: readonly Printed[]) => {
    const rows = lines.flatMap(({ at, line }) => {
      const prefix = options.timestamps === true ? `${at} ${line.prefix}` : line.prefix
      return rowsOf({ ...line, prefix }, stdout.width(), colours)
    })
    if (rows.length > 0) await stdout.write(asLines(rows))
  }
  let next = "start"
  let last: Printed[] = []
  for await (const event of pastOutput(client, view, "start")) {
    if (event.kind === "output") next = event.next
    const lines = reader.read(event)
    if (typeof options.tail !== "number") await print(lines)
    else last = [...last, ...lines].slice(-options.tail || Number.MAX_SAFE_INTEGER)
    if (options.until?.aborted === true) return
  }
  if (options.tail !== 0) await print(last)
  if (options.isFollowed !== true) return print(reader.rest())
  for await (const event of followedOutput(client, view.execution_id, next, options.until)) {
    await print(reader.read(event))
  }
  await print(reader.rest())
}

type Printed = { at: string; line: Line }

/** From pieces of output to lines with their times. */
class ConversationReader {
  readonly #log = new SessionLog()
  readonly #conversation = new Conversation()
  readonly #decoder = new TextDecoder()
  readonly #since: string
  #at = ""

  constructor({ since }: PrintOptions) {
    this.#since = since?.toISOString() ?? ""
  }

  read(event: LogEvent): Printed[] {
    if (event.kind === "gap") {
      this.#log.cut()
      return this.#stamped(this.#conversation.gap(event))
    }
    const text = this.#decoder.decode(event.bytes, { stream: true })
    return this.#log.add(event.stream, text).flatMap((notice) => this.#notice(notice))
  }

  /** What the agent has said of a line that it has not ended yet. */
  rest(): Printed[] {
    return this.#stamped(this.#conversation.finish())
  }

  #notice(notice: SessionNotice): Printed[] {
    if (notice.kind === "event") this.#at = notice.event.at
    return this.#stamped(this.#conversation.read(notice))
  }

  #stamped(lines: readonly Line[]): Printed[] {
    const at = onOneLine(this.#at)
    return at < this.#since ? [] : lines.map((line) => ({ at, line }))
  }
}
