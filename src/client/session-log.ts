import type { StreamName } from "../execution/record.ts"
import { parseJson } from "../lib/parse-json.ts"
import { SessionEvent } from "../protocol/agent-event.ts"
import type { GapNotice } from "../protocol/methods.ts"

/** What happens in a session, in order. */
export type SessionNotice =
  | { kind: "event"; event: SessionEvent; line: string }
  /** A line of a kind that this program does not know yet. */
  | { kind: "unknown"; line: string }
  /** Events that are no longer kept, with the exact size; the line that is cut by it counts too. */
  | ({ kind: "gap" } & GapNotice)
  /** What the agent's program writes to standard error. */
  | { kind: "stderr"; text: string }

/** Reads the events of a session from pieces of its output. */
export class SessionLog {
  #pieces: string[] = []
  #isCut = false

  add(stream: StreamName, text: string): SessionNotice[] {
    return stream === "stderr" ? [{ kind: "stderr", text }] : this.#lines(text).map(noticeOf)
  }

  /** Something is missing here. */
  cut(): void {
    this.#pieces = []
    this.#isCut = true
  }

  #lines(text: string): string[] {
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
}

function noticeOf(line: string): SessionNotice {
  const json = parseJson(line)
  const read = SessionEvent.safeParse(json.ok ? json.value : null)
  return read.success ? { kind: "event", event: read.data, line } : { kind: "unknown", line }
}
