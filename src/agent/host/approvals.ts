import type { Question } from "../../execution/agent.ts"
import {
  ApprovalJudge,
  mayBeJudged,
  type OwnedRule,
  type PartVerdict,
  type Verdict,
} from "../../execution/judge-question.ts"
import type { RuleDecision } from "../../protocol/agent-host.ts"
import type { AgentEvents } from "../port.ts"
import { Countdown } from "./countdown.ts"
import type { HostClock } from "./host-clock.ts"

export type RuleAnswer = Pick<RuleDecision, "behavior" | "by" | "rule" | "rule_from"> & {
  /** What the agent is told when it is denied. */
  message: string
}

type Calls = {
  /** Nobody has answered in time. */
  due(answer: RuleAnswer): void
  /** The time it has left is another one. */
  changed(): void
}

/** Answers questions by rules: at once, or when nobody else has in time. */
export class Approvals {
  readonly #clock: HostClock
  readonly #judge: ApprovalJudge | null
  /** Of uses of tools that an agent might not ask about; null where no rule denies anything. */
  readonly mustAsk: AgentEvents["mustAsk"]
  readonly #countdowns = new Map<string, Countdown>()

  constructor(clock: HostClock, rules: readonly OwnedRule[], directory: string) {
    this.#clock = clock
    const judge = rules.length === 0 ? null : new ApprovalJudge(rules, directory)
    this.#judge = judge
    const denies = rules.some(({ decide }) => decide === "deny")
    this.mustAsk =
      denies && judge !== null
        ? (tool, input) => judge.judge({ tool, input }).parts.some(mayBeDenied)
        : null
  }

  /** The answer to a question, or null for one that stays open; notes on it what rules say. */
  take(question: Question, calls: Calls): RuleAnswer | null {
    if (question.replaces !== null) this.forget(question.replaces)
    if (this.#judge === null || !mayBeJudged(question)) return null
    const verdict = this.#judge.judge(question)
    if (verdict.decide !== "ask") {
      const answer = answerOf(verdict.decide, verdict, null)
      question.decided_by = answer.by
      return answer
    }
    if (verdict.rules.length > 0) question.rule = namesOf(verdict)
    if (verdict.deadline !== null) this.#wait(question, verdict, verdict.deadline, calls)
    return null
  }

  /** It is not open any more. */
  forget(questionId: string): void {
    this.#countdowns.get(questionId)?.[Symbol.dispose]()
    this.#countdowns.delete(questionId)
  }

  #wait(
    question: Question,
    verdict: Verdict,
    { afterMs, then }: NonNullable<Verdict["deadline"]>,
    calls: Calls,
  ): void {
    const countdown = new Countdown(this.#clock, afterMs, {
      due: () => calls.due(answerOf(then, verdict, afterMs)),
      moved: () => {
        question.answer_by = countdown.dueAt.toISOString()
        calls.changed()
      },
    })
    question.answer_by = countdown.dueAt.toISOString()
    question.answer_then = then
    this.#countdowns.set(question.question_id, countdown)
  }
}

function mayBeDenied({ rule }: PartVerdict): boolean {
  return rule?.decide === "deny"
}

function answerOf(
  behavior: "allow" | "deny",
  verdict: Verdict,
  afterMs: number | null,
): RuleAnswer {
  const rule = namesOf(verdict)
  const [first] = verdict.rules
  const rule_from = verdict.rules.some(({ from }) => from === "session") ? "session" : "service"
  const late = afterMs === null ? "" : `Nobody answered within ${afterMs / 1000} s. `
  const why = first?.message === undefined ? "." : `: ${first.message}`
  const message = `${late}Denied by the approval rule ${rule}${why}`
  return { behavior, by: afterMs === null ? `rule:${rule}` : "deadline", rule, rule_from, message }
}

/** Several where a line has several commands, each allowed by another rule. */
function namesOf({ rules }: Verdict): string {
  return rules.map(({ name }) => name).join(",")
}
