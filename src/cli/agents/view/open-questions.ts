import type { Question } from "../../../execution/agent.ts"
import type { Line } from "./line.ts"
import { questionLines } from "./question-lines.ts"

/**
 * Questions without an answer. Only the first of them is shown in full, so that what is to be
 * answered next always stands last; the next one follows when that has an answer.
 */
export class OpenQuestions {
  #open: Question[] = []
  #shown: string | null = null

  get open(): readonly Question[] {
    return this.#open
  }

  ask(question: Question): Line[] {
    const others = this.#open.filter(
      ({ question_id }) =>
        question_id !== question.question_id && question_id !== question.replaces,
    )
    this.#open = [...others, question]
    return this.#show()
  }

  answered(questionId: string): Line[] {
    this.#open = this.#open.filter(({ question_id }) => question_id !== questionId)
    return this.#show()
  }

  /** As a status has them: it may know of some that were asked before anybody looked. */
  replace(questions: readonly Question[]): Line[] {
    const known = new Map(this.#open.map((question) => [question.question_id, question]))
    // Long input is left out of a status.
    this.#open = questions.map((question) => known.get(question.question_id) ?? question)
    return this.#show()
  }

  #show(): Line[] {
    const [first] = this.#open
    if (first === undefined || first.question_id === this.#shown) return []
    this.#shown = first.question_id
    return questionLines(first)
  }
}
