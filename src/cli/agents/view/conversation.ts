import { z } from "zod"
import { AgentMessage } from "../../../client/messages/agent-message.ts"
import type { SessionNotice } from "../../../client/session-log.ts"
import type { Question } from "../../../execution/agent.ts"
import { countText } from "../../../lib/count-text.ts"
import type { SessionEvent } from "../../../protocol/agent-event.ts"
import { gapText } from "../../terminal/show-output.ts"
import { durationText, sizeText } from "../../time.ts"
import { blankLine, foldedLines, type Line, line } from "./line.ts"
import { MessageLines } from "./message-lines.ts"
import { OpenQuestions } from "./open-questions.ts"

type Said<Name extends SessionEvent["event"]> = Extract<SessionEvent, { event: Name }>

/** Which turns and answers came from here: those of others are shown with their names. */
export type Own = {
  isTurn(turnId: string, by: string): boolean
  isAnswer(questionId: string, by: string): boolean
}

const nobodysOwn: Own = { isTurn: () => false, isAnswer: () => false }
/** Of what somebody said: a whole file may have been pasted. */
const mostTurnLines = 40
const mostChangedChars = 1_000
/** What happens while the agent speaks waits for the end of its line; not for ever. */
const mostWaiting = 200

/** Makes readable lines of a session's events, one after the other. */
export class Conversation {
  readonly #own: Own
  readonly #messages = new MessageLines()
  readonly #questions = new OpenQuestions()
  #waiting: Line[] = []
  #limitTold: string | null = null
  #longMessageChars = 0

  constructor(own: Own = nobodysOwn) {
    this.#own = own
  }

  /** What the agent has said of a line so far. */
  get unfinished(): string {
    return this.#messages.unfinished
  }

  /** What others did meanwhile, which follows when that line has ended. */
  get waiting(): readonly Line[] {
    return this.#waiting
  }

  /** Those without an answer, in the order in which they were asked. */
  get questions(): readonly Question[] {
    return this.#questions.open
  }

  /** The lines that a notice adds. */
  read(notice: SessionNotice): Line[] {
    switch (notice.kind) {
      case "event":
        return this.#event(notice.event)
      case "gap":
        return this.gap(notice)
      case "stderr":
        return this.#between(foldedLines(notice.text, 10, { prefix: "! ", colour: "dim" }))
      case "unknown":
        return []
    }
  }

  /** What is left of a line that nobody goes on with. */
  finish(): Line[] {
    return [...this.#messages.finish("whole"), ...this.#flush()]
  }

  gap(gap: Parameters<typeof gapText>[0]): Line[] {
    return [...this.#messages.finish("cut"), ...this.#flush(), warning(gapText(gap))]
  }

  #event(event: SessionEvent): Line[] {
    switch (event.event) {
      case "message":
        return this.#message(event)
      case "turn":
        return this.#between(this.#turn(event))
      case "question":
        return this.#atOnce(this.#questions.ask(event))
      case "answer":
        return this.#atOnce(this.#answer(event))
      case "status":
        return this.#atOnce(this.#questions.replace(event.questions))
      case "turn-ended":
        return [...this.#messages.finish("whole"), ...this.#flush(), ...this.#turnEnded(event)]
      case "session":
        return this.#between([line(sessionText(event), { colour: "dim" })])
      case "limit":
        return this.#between(this.#limit(event))
      case "budget": {
        const { budget, used, limit, done } = event
        return this.#between([warning(`The budget ${budget}: ${used} of ${limit}. ${done}`)])
      }
      case "resumed":
        return this.#between([remark(`It goes on after ${event.after} (${event.attempt}).`)])
      case "configured": {
        const { model, permission_mode: mode, by } = event
        const changes = [model && `model ${model}`, mode && `permission mode ${mode}`]
        return this.#between([remark(`${by} set ${changes.filter(Boolean).join(", ")}.`)])
      }
      case "problem":
        return this.#between([warning(event.problem)])
      case "ended":
        return [
          ...this.#messages.finish("whole"),
          ...this.#flush(),
          ...this.#questions.replace([]),
          remark(`The session ends (${event.cause}): ${event.message}`),
        ]
      case "activity":
      case "usage":
        return []
    }
  }

  #message({ message, text, last }: Said<"message">): Line[] {
    if (text !== undefined) return this.#longMessage(text, last === true)
    const read = AgentMessage.safeParse(message)
    if (!read.success) return []
    const lines = this.#messages.read(read.data)
    const isInsideLine = lines.length === 0 && this.#messages.unfinished !== ""
    return isInsideLine ? [] : [...lines, ...this.#flush()]
  }

  #longMessage(text: string, isLast: boolean): Line[] {
    this.#longMessageChars += text.length
    if (!isLast) return []
    const size = sizeText(this.#longMessageChars)
    this.#longMessageChars = 0
    const lines = this.#messages.finish("whole")
    return [...lines, ...this.#flush(), remark(`(a message of ${size}: \`logs --raw\` has it)`)]
  }

  #turn({ turn_id, by, text, content }: Said<"turn">): Line[] {
    const said = text ?? countText(content?.length ?? 0, "piece") + " of content"
    const prefix = this.#own.isTurn(turn_id, by) ? "> " : `${by}> `
    this.#messages.begin("turn")
    return [blankLine, ...foldedLines(said, mostTurnLines, { prefix, colour: "bold" })]
  }

  #answer(answer: Said<"answer">): Line[] {
    const { question_id, behavior, by, message, updated_input, remember } = answer
    const question = this.questions.find((one) => one.question_id === question_id)
    if (question !== undefined && behavior === "allow" && updated_input === undefined) {
      this.#messages.hasSeen(question.tool, question.input)
    }
    if (behavior === "deny" && message !== undefined) this.#messages.hasDenied(message)
    const who = this.#own.isAnswer(question_id, by) ? "" : ` by ${by}`
    const changed = updated_input === undefined ? "" : `, with ${changedText(updated_input)}`
    const always = remember === true ? ", always" : ""
    const why = behavior === "deny" && message !== undefined ? `: ${message}` : ""
    const text = `${question_id} ${past[behavior]}${who}${always}${changed}${why}`
    const style = { allow: "green", deny: "red", withdrawn: "dim" } as const
    const told = line(text, { prefix: "  ", colour: style[behavior] })
    return [told, ...this.#questions.answered(question_id)]
  }

  #turnEnded({ outcome, result, duration_ms, cost_usd }: Said<"turn-ended">): Line[] {
    // Of an interrupted turn it is nothing but a note of the agent's to itself.
    const text = outcome === "interrupted" ? "" : (result ?? "")
    const said = this.#messages.hasSaid(text) ? [] : foldedLines(text, mostTurnLines)
    const time = duration_ms === null || duration_ms === undefined ? "" : durationText(duration_ms)
    const cost = cost_usd === undefined ? "" : `$${cost_usd.toFixed(4)}`
    const facts = [time, cost].filter((fact) => fact !== "").join(", ")
    const end =
      outcome === "success"
        ? line(`done${facts === "" ? "" : ` in ${facts}`}`, { prefix: "— ", colour: "dim" })
        : line(`the turn did not succeed: ${outcome}`, { prefix: "— ", colour: "red" })
    this.#messages.begin("turn")
    return [...said, end]
  }

  #limit({ status, type, resets_at }: Said<"limit">): Line[] {
    const told = `${status} ${resets_at}`
    if (status !== "rejected" || told === this.#limitTold) return []
    this.#limitTold = told
    const until = resets_at === null ? "" : ` It resets at ${resets_at}.`
    return [warning(`A usage limit was reached${type === null ? "" : ` (${type})`}.${until}`)]
  }

  /** What is to be answered is seen before it can be, even in the middle of a line. */
  #atOnce(lines: Line[]): Line[] {
    if (lines.length === 0) return []
    this.#messages.begin("other")
    return [...this.#messages.finish("open"), ...this.#flush(), ...lines]
  }

  /** Lines of others do not cut a line of the agent's in two. */
  #between(lines: Line[]): Line[] {
    if (lines.length > 0) this.#messages.begin("other")
    if (this.#messages.unfinished === "") return [...this.#flush(), ...lines]
    this.#waiting.push(...lines)
    return this.#waiting.length < mostWaiting
      ? []
      : [...this.#messages.finish("open"), ...this.#flush()]
  }

  #flush(): Line[] {
    const lines = this.#waiting
    this.#waiting = []
    return lines
  }
}

const past = { allow: "allowed", deny: "denied", withdrawn: "withdrawn" } as const

const Chosen = z.object({ answers: z.record(z.string(), z.string()) })

/** What somebody chose, or made of the input. */
function changedText(input: unknown): string {
  const chosen = Chosen.safeParse(input)
  const text = JSON.stringify(chosen.success ? chosen.data.answers : input)
  return text.slice(0, mostChangedChars)
}

function sessionText({ agent, version, model, cwd, resumed_from }: Said<"session">): string {
  const name = [agent, version].filter(Boolean).join(" ")
  const resumed = resumed_from ? `goes on with ${resumed_from}` : null
  return [name, model, cwd, resumed].filter(Boolean).join(" · ")
}

function remark(text: string): Line {
  return line(text, { colour: "dim" })
}

function warning(text: string): Line {
  return line(text, { prefix: "! ", colour: "yellow" })
}
