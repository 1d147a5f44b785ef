import { tryParseJson } from "../lib/parse-json.ts"
import { SessionEvent } from "../protocol/agent-event.ts"
import type { GapNotice, MethodName, ParamsOf, ResultOf } from "../protocol/methods.ts"
import type { RemoteExecution } from "./remote-execution.ts"

/** What happens in a session, in order. */
export type SessionNotice =
  | { kind: "event"; event: SessionEvent; line: string }
  /** A line of a kind that this program does not know yet. */
  | { kind: "unknown"; line: string }
  /** Events that are no longer kept, with the exact size; the line that is cut by it counts too. */
  | ({ kind: "gap" } & GapNotice)
  /** What the agent's program writes to standard error. */
  | { kind: "stderr"; text: string }

type Call = <Name extends MethodName>(
  method: Name,
  params: ParamsOf<Name>,
) => Promise<ResultOf<Name>>

type About<Name extends MethodName> = Omit<ParamsOf<Name>, "execution_id">

/** A session of an agent, followed across reconnects. */
export class AgentSession implements AsyncDisposable {
  readonly execution: RemoteExecution
  readonly #call: Call

  constructor(execution: RemoteExecution, call: Call) {
    this.execution = execution
    this.#call = call
  }

  get id(): string {
    return this.execution.id
  }

  /** Ends with the session, or with `detach`; one consumer at a time. */
  async *events(): AsyncGenerator<SessionNotice> {
    const lines = new EventLines()
    for await (const said of this.execution.output()) {
      if (said.kind === "gap") {
        lines.cut()
        yield said
      } else if (said.kind === "output" && said.stream === "stderr") {
        yield { kind: "stderr", text: said.text ?? "" }
      } else if (said.kind === "output") {
        for (const line of lines.add(said.text ?? "")) yield noticeOf(line)
      }
    }
  }

  /** Comes back when the turn is on record. */
  async send(turn: string | About<"agent.send">): Promise<string> {
    const asked = typeof turn === "string" ? { text: turn } : turn
    return (await this.#call("agent.send", { execution_id: this.id, ...asked })).turn_id
  }

  async answer(answer: About<"agent.answer">): Promise<void> {
    await this.#call("agent.answer", { execution_id: this.id, ...answer })
  }

  async interrupt(): Promise<void> {
    await this.#call("agent.interrupt", { execution_id: this.id })
  }

  async configure(change: About<"agent.configure">): Promise<void> {
    await this.#call("agent.configure", { execution_id: this.id, ...change })
  }

  /** Lets the turn finish, then ends the session. */
  async end(): Promise<void> {
    await this.#call("agent.end", { execution_id: this.id })
  }

  status(): Promise<ResultOf<"agent.status">> {
    return this.#call("agent.status", { execution_id: this.id })
  }

  detach(): Promise<void> {
    return this.execution.detach()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.detach()
  }
}

/** Puts lines together from pieces of text. */
class EventLines {
  #pieces: string[] = []
  #isCut = false

  add(text: string): string[] {
    const [first = "", ...others] = text.split("\n")
    const rest = others.pop()
    if (rest === undefined) {
      this.#pieces.push(first)
      return []
    }
    const lines = [this.#pieces.join("") + first, ...others]
    this.#pieces = [rest]
    // The first line after a gap is the rest of one whose beginning is gone.
    if (this.#isCut) lines.shift()
    this.#isCut = false
    return lines
  }

  cut(): void {
    this.#pieces = []
    this.#isCut = true
  }
}

function noticeOf(line: string): SessionNotice {
  const read = SessionEvent.safeParse(tryParseJson(line))
  return read.success ? { kind: "event", event: read.data, line } : { kind: "unknown", line }
}
