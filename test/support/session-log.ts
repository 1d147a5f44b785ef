import { EventLog } from "../../src/agent/host/event-log.ts"
import { LineSplitter } from "../../src/agent/host/line-splitter.ts"

/** The log of a session as its host writes it, of messages as Claude Code says them. */
export class SessionLog {
  readonly #written: Uint8Array[] = []
  readonly #log = new EventLog(
    (bytes) => this.#written.push(bytes),
    () => new Date(0),
  )
  readonly #splitter = new LineSplitter(
    {
      line: (text) => void this.#log.addMessage(text),
      part: ({ text, part, isLast }) => void this.#log.add("message", { part, last: isLast, text }),
      heldLine: () => undefined,
    },
    () => false,
  )
  #uses = 0

  get bytes(): Uint8Array {
    return Buffer.concat(this.#written)
  }

  add(event: string, facts: object): this {
    this.#log.add(event, facts)
    return this
  }

  turn(text: string): this {
    return this.add("turn", { turn_id: "t", by: "local", text })
  }

  message(message: object): this {
    this.#splitter.push(Buffer.from(`${JSON.stringify(message)}\n`))
    return this
  }

  say(text: string): this {
    return this.message(said([{ type: "text", text }]))
  }

  /** Uses a tool, and is given its output. */
  use(name: string, input: object, content: unknown, more: object = {}): this {
    return this.begin(name, input).output(content, more)
  }

  begin(name: string, input: object): this {
    this.#uses += 1
    return this.message(said([{ type: "tool_use", id: `use${this.#uses}`, name, input }]))
  }

  /** Of the tool that was used last. */
  output(content: unknown, more: object = {}, ofBlock: object = {}): this {
    const tool_use_id = `use${this.#uses}`
    const block = { type: "tool_result", tool_use_id, content, ...ofBlock }
    return this.message({ type: "user", message: { role: "user", content: [block] }, ...more })
  }

  /** Asks about the tool that was used last, and is answered. */
  answered(question_id: string, answer: object): this {
    const request = { subtype: "can_use_tool", tool_use_id: `use${this.#uses}` }
    this.message({ type: "control_request", request_id: "r", request })
    this.add("question", { question_id, tool: "Bash" })
    return this.add("answer", { question_id, by: "local", ...answer })
  }
}

function said(content: object[]): object {
  return { type: "assistant", message: { role: "assistant", content }, parent_tool_use_id: null }
}
