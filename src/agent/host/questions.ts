import type { Question } from "../../execution/agent.ts"
import { canonicalText } from "../../lib/canonical-text.ts"
import type { QuestionAsked } from "../port.ts"

export type Answered = { behavior: string; by: string; at: string }

export type Open = {
  question: Question
  /** How the agent's program calls it; null when that is gone, and may ask it again. */
  requestId: string | null
}

/** What became of a question that is not open. */
export type Settled =
  | { kind: "answered"; answered: Answered }
  | { kind: "replaced"; by: string }
  | { kind: "unknown" }

const mostRemembered = 10_000

/** The questions of a session, open ones and what became of the others. */
export class Questions {
  readonly #open = new Map<string, Open>()
  readonly #settled = new Map<string, Settled>()
  #count = 0

  get open(): Question[] {
    return [...this.#open.values()].map(({ question }) => question)
  }

  /** A question that the program before this one had asked is replaced by the same one. */
  add(requestId: string, asked: QuestionAsked, at: string): Question {
    this.#count += 1
    const question_id = `q${this.#count}`
    const earlier = this.#abandonedLike(asked)
    const replaces = earlier?.question_id ?? null
    const question: Question = { ...asked, question_id, asked_at: at, replaces }
    if (earlier !== null) this.#settle(earlier.question_id, { kind: "replaced", by: question_id })
    this.#open.set(question_id, { question, requestId })
    return question
  }

  /** Those of an execution before this one: they stay open until they are asked again. */
  goOnFrom(questions: readonly Question[]): void {
    for (const question of questions) {
      this.#open.set(question.question_id, { question, requestId: null })
      const number = Number(/^q(\d+)$/.exec(question.question_id)?.[1] ?? 0)
      this.#count = Math.max(this.#count, number)
    }
  }

  find(questionId: string): Open | null {
    return this.#open.get(questionId) ?? null
  }

  byRequest(requestId: string): Question | null {
    for (const open of this.#open.values()) {
      if (open.requestId === requestId) return open.question
    }
    return null
  }

  answer(questionId: string, answered: Answered): void {
    this.#settle(questionId, { kind: "answered", answered })
  }

  whatBecameOf(questionId: string): Settled {
    return this.#settled.get(questionId) ?? { kind: "unknown" }
  }

  /** The program that asked them is gone: they stay open until it asks again, or never does. */
  abandonAll(): void {
    for (const open of this.#open.values()) open.requestId = null
  }

  /** Those that no living program waits for. */
  get abandoned(): Question[] {
    return [...this.#open.values()].flatMap(({ question, requestId }) =>
      requestId === null ? [question] : [],
    )
  }

  #abandonedLike(asked: QuestionAsked): Question | null {
    const wanted = likeness(asked)
    return this.abandoned.find((question) => likeness(question) === wanted) ?? null
  }

  #settle(questionId: string, settled: Settled): void {
    this.#open.delete(questionId)
    this.#settled.set(questionId, settled)
    const [oldest] = this.#settled.keys()
    if (this.#settled.size > mostRemembered && oldest !== undefined) this.#settled.delete(oldest)
  }
}

function likeness({ kind, tool, input }: QuestionAsked): string {
  return canonicalText({ kind, tool, input })
}
