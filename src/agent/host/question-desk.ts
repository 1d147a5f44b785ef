import type { Question } from "../../execution/agent.ts"
import type { StampedOrder } from "../../protocol/agent-orders.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { AgentProcess, QuestionAsked } from "../port.ts"
import type { HostClock } from "./host-clock.ts"
import { Questions } from "./questions.ts"
import type { Recorder } from "./recorder.ts"

type AnswerOrder = Extract<StampedOrder, { order: "answer" }>

/** Takes the questions of an agent, and passes on the first answer to each. */
export class QuestionDesk {
  readonly #clock: HostClock
  readonly #record: Recorder
  readonly #questions = new Questions()

  constructor(clock: HostClock, record: Recorder) {
    this.#clock = clock
    this.#record = record
  }

  get open(): Question[] {
    return this.#questions.open
  }

  /** Those of an execution before this one. */
  goOnFrom(questions: readonly Question[]): void {
    this.#questions.goOnFrom(questions)
  }

  ask(requestId: string, asked: QuestionAsked): void {
    this.#record.add("question", this.#questions.add(requestId, asked, this.#now()))
  }

  /** Null when the agent was told, else why not. */
  answer(order: AnswerOrder, process: AgentProcess | null): Failure | null {
    const { questionId: question_id, behavior, by, remember } = order
    const open = this.#questions.find(question_id)
    if (open === null) return this.#tooLate(question_id)
    if (open.requestId === null || process === null) return beingRestarted
    const { question, requestId } = open
    const message = order.message ?? `${by} said no.`
    const updated_input = behavior === "allow" ? order.updatedInput : null
    this.#questions.answer(question_id, { behavior, by, at: this.#now() })
    this.#record.add("answer", {
      question_id,
      behavior,
      by,
      ...(updated_input === null ? {} : { updated_input }),
      ...(behavior === "deny" ? { message } : {}),
      ...(remember ? { remember } : {}),
    })
    const asAsked = question.kind === "elicitation" ? {} : question.input
    const input = updated_input ?? asAsked
    const suggestions = remember ? question.suggestions : []
    process.answer(
      requestId,
      behavior === "allow" ? { behavior, input, suggestions } : { behavior, message },
    )
    return null
  }

  /** The agent does not want to know any more. */
  withdraw(requestId: string): void {
    const question = this.#questions.byRequest(requestId)
    if (question !== null) this.#withdraw(question)
  }

  /** The program that asked them is gone: they stay open until it asks again, or never does. */
  abandonAll(): void {
    this.#questions.abandonAll()
  }

  withdrawAbandoned(): void {
    for (const question of this.#questions.abandoned) this.#withdraw(question)
  }

  withdrawAll(): void {
    for (const question of this.#questions.open) this.#withdraw(question)
  }

  #withdraw({ question_id }: Question): void {
    const answered = { behavior: "withdrawn", by: "agent" }
    this.#questions.answer(question_id, { ...answered, at: this.#now() })
    this.#record.add("answer", { question_id, ...answered })
  }

  #tooLate(questionId: string): Failure {
    const became = this.#questions.whatBecameOf(questionId)
    switch (became.kind) {
      case "answered": {
        const { behavior, by, at } = became.answered
        const message = `Question ${questionId} was answered by ${by} at ${at}: ${behavior}.`
        return { reason: "ALREADY_ANSWERED", message, details: { behavior, by, at } }
      }
      case "replaced": {
        const message = `Question ${questionId} was asked again as ${became.by}: answer that one.`
        return { reason: "WRONG_STATE", message, details: { replaced_by: became.by } }
      }
      case "unknown":
        return { reason: "INVALID_PARAMS", message: `Unknown question: ${questionId}.` }
    }
  }

  #now(): string {
    return this.#clock.now().toISOString()
  }
}

const beingRestarted: Failure = {
  reason: "WRONG_STATE",
  message: "The agent's program died and is being started again: it will ask this once more.",
}
