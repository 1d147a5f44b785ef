import { field, isAsking, isSpeaking, type Saying, sayingsOf, textOf } from "./claude-messages.ts"
import { type Counted, timesIn } from "./counted-json.ts"
import type { Findings, ToolEvidence } from "./evidence.ts"
import { SessionLines } from "./session-lines.ts"
import { ToolUses } from "./tool-uses.ts"

const mostShown = 5

/**
 * Looks for a text in the log of a session, and tells by whom it was written. Of the log, which may
 * have gigabytes, it holds one small part at a time.
 */
export class SessionEvidence {
  readonly #lines: SessionLines
  readonly #uses = new ToolUses()
  readonly #times = { executed: 0, claimed: 0, echoed: 0 }
  #repeated = 0
  #usesFound = 0
  #usesWithOwnInput = 0
  readonly #shown: ToolEvidence[] = []
  /** The use of a tool that the next question is about. */
  #askedFor = ""

  /** `isCut`: the log begins anywhere, since what stood before was dropped. */
  constructor(sought: string, isCut: boolean) {
    this.#lines = new SessionLines(sought, isCut, (event, value, head) => {
      switch (event) {
        case "message":
          for (const saying of sayingsOf(value)) this.#hear(saying, head)
          break
        case "turn":
          this.#times.echoed += timesIn(field(value, "text")) + timesIn(field(value, "content"))
          break
        case "question":
          if (this.#askedFor !== "") this.#uses.ask(questionIn(value), this.#askedFor)
          this.#askedFor = ""
          break
        case "answer":
          this.#answered(value)
          break
      }
    })
  }

  push(bytes: Uint8Array): void {
    this.#lines.push(bytes)
  }

  findings(): Findings {
    const { executed, echoed } = this.#times
    const claimed = Math.max(this.#times.claimed, this.#repeated)
    return {
      found: executed > 0 ? "executed" : claimed > 0 ? "claimed" : echoed > 0 ? "echoed" : "absent",
      times: { executed, claimed, echoed },
      uses: this.#usesFound,
      uses_with_own_input: this.#usesWithOwnInput,
      tools: this.#shown.toSorted((one, other) => doubtsAbout(one) - doubtsAbout(other)),
      unread: this.#lines.unread,
    }
  }

  #hear(saying: Saying, head: { n: number; at: string }): void {
    switch (saying.kind) {
      case "said":
        this.#times.claimed += saying.times
        break
      case "told":
        this.#times.echoed += saying.times
        break
      case "repeated":
        this.#repeated += saying.times
        break
      case "use":
        this.#times.claimed += saying.times
        this.#uses.begin(saying.id, saying.tool, saying.input, saying.times)
        break
      case "asks":
        this.#askedFor = saying.useId
        break
      case "output":
        this.#output(saying, head)
        break
    }
  }

  #output(
    { id, times, hasRun, failed }: Extract<Saying, { kind: "output" }>,
    { n: event, at }: { n: number; at: string },
  ): void {
    const { tool, input, inInput: in_own_input, isAnswered } = this.#uses.end(id)
    if (times === 0 || isAnswered) return
    if (!hasRun || isAsking(tool ?? "")) {
      this.#times.echoed += times
      return
    }
    if (isSpeaking(tool ?? "")) {
      this.#times.claimed += times
      return
    }
    this.#times.executed += times
    this.#usesFound += 1
    if (in_own_input === true) this.#usesWithOwnInput += 1
    const own = in_own_input === true ? 1 : 0
    const in_earlier_input = this.#uses.inputsWithText > own
    this.#show({ tool, input, times, in_own_input, in_earlier_input, failed, event, at })
  }

  /** What leaves the fewest doubts is kept. */
  #show(evidence: ToolEvidence): void {
    if (this.#shown.length < mostShown) {
      this.#shown.push(evidence)
      return
    }
    const worst = this.#shown.toSorted((one, other) => doubtsAbout(other) - doubtsAbout(one))[0]
    if (worst === undefined || doubtsAbout(worst) <= doubtsAbout(evidence)) return
    this.#shown[this.#shown.indexOf(worst)] = evidence
  }

  #answered(value: Counted): void {
    const input = field(value, "updated_input")
    this.#times.echoed += timesIn(input) + timesIn(field(value, "message"))
    if (textOf(field(value, "behavior")) === "deny") this.#uses.deny(questionIn(value))
    else if (input !== undefined) this.#uses.changeInput(questionIn(value), input)
  }
}

function questionIn(value: Counted): string {
  return textOf(field(value, "question_id"))
}

function doubtsAbout({ in_own_input, in_earlier_input, tool }: ToolEvidence): number {
  if (in_own_input === true) return 3
  return tool === null ? 2 : in_earlier_input ? 1 : 0
}
