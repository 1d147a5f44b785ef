import type { Question } from "../../execution/agent.ts"
import type { RuleDecision } from "../../protocol/agent-host.ts"
import type { StampedOrder } from "../../protocol/agent-orders.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { AgentProcess, QuestionAsked } from "../port.ts"
import type { Approvals, RuleAnswer } from "./approvals.ts"
import type { HostClock } from "./host-clock.ts"
import { type Open, Questions } from "./questions.ts"
import type { Recorder } from "./recorder.ts"

type AnswerOrder = Extract<StampedOrder, { order: "answer" }>

export type DeskPorts = {
  clock: HostClock
  record: Recorder
  approvals: Approvals
  /** The agent's program; null while it is not there. */
  process(): AgentProcess | null
  decided(decision: RuleDecision): void
  /** Something has changed without an order or a word of the agent. */
  changed(): void
}

/** Takes the questions of an agent, and passes on the first answer to each. */
export class QuestionDesk {
  readonly #ports: DeskPorts
  readonly #record: Recorder
  readonly #questions = new Questions()

  constructor(ports: DeskPorts) {
    this.#ports = ports
    this.#record = ports.record
  }

  get open(): Question[] {
    return this.#questions.open
  }

  /** Those of an execution before this one. */
  goOnFrom(questions: readonly Question[]): void {
    this.#questions.goOnFrom(questions)
  }

  ask(requestId: string, asked: QuestionAsked): void {
    const question = this.#questions.add(requestId, asked, this.#now())
    const { approvals } = this.#ports
    const answer = approvals.take(question, {
      due: (late) => {
        this.#answerByRule(question.question_id, late)
        this.#ports.changed()
      },
      changed: () => this.#ports.changed(),
    })
    this.#record.add("question", question)
    if (answer !== null) this.#answerByRule(question.question_id, answer)
  }

  /** Null when the agent was told, else why not. */
  answer(order: AnswerOrder): Failure | null {
    const { questionId, behavior, by, remember } = order
    const open = this.#questions.find(questionId)
    if (open === null) return this.#tooLate(questionId)
    const process = this.#ports.process()
    if (open.requestId === null || process === null) return beingRestarted
    const message = order.message ?? `${by} said no.`
    const updatedInput = behavior === "allow" ? order.updatedInput : null
    this.#pass(open, process, { behavior, by, message, updatedInput, remember })
    return null
  }

  /** Where its program is gone, it asks again, and is then judged again. */
  #answerByRule(question_id: string, answer: RuleAnswer): void {
    const open = this.#questions.find(question_id)
    const process = this.#ports.process()
    if (open === null || open.requestId === null || process === null) return
    const { behavior, by, message, rule, rule_from } = answer
    const tool = (open.question.tool ?? "").slice(0, 256)
    this.#ports.decided({ question_id, behavior, by, rule, rule_from, tool })
    const told = { behavior, by, message, updatedInput: null, remember: false }
    this.#pass(open, process, told, { rule, rule_from })
  }

  #pass({ question, requestId }: Open, process: AgentProcess, answer: Given, more = {}): void {
    const { behavior, by, message, updatedInput: updated_input, remember } = answer
    const { question_id } = question
    this.#settle(question_id, { behavior, by })
    this.#record.add("answer", {
      question_id,
      behavior,
      by,
      ...(updated_input === null ? {} : { updated_input }),
      ...(behavior === "deny" ? { message } : {}),
      ...(remember ? { remember } : {}),
      ...more,
    })
    const asAsked = question.kind === "elicitation" ? {} : question.input
    const input = updated_input ?? asAsked
    const suggestions = remember ? question.suggestions : []
    process.answer(
      requestId ?? "",
      behavior === "allow" ? { behavior, input, suggestions } : { behavior, message },
    )
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
    this.#settle(question_id, answered)
    this.#record.add("answer", { question_id, ...answered })
  }

  #settle(question_id: string, answered: { behavior: string; by: string }): void {
    this.#ports.approvals.forget(question_id)
    this.#questions.answer(question_id, { ...answered, at: this.#now() })
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
    return this.#ports.clock.now().toISOString()
  }
}

type Given = {
  behavior: "allow" | "deny"
  by: string
  message: string
  updatedInput: Record<string, unknown> | null
  remember: boolean
}

const beingRestarted: Failure = {
  reason: "WRONG_STATE",
  message: "The agent's program died and is being started again: it will ask this once more.",
}
