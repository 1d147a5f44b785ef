import type { BudgetUse } from "../../execution/agent.ts"
import type { HostStart } from "../../protocol/agent-orders.ts"
import type { HostRestart } from "../../protocol/agent-restart.ts"
import type { AgentProcess, AgentSignal } from "../port.ts"
import type { Doing } from "./activity.ts"
import { Budgets } from "./budgets.ts"
import { HoldUp } from "./hold-up.ts"
import { Identity } from "./identity.ts"
import { Liveliness } from "./liveliness.ts"
import { Meter } from "./meter.ts"
import { QuestionDesk } from "./question-desk.ts"
import { RecordedTurns } from "./recorded-turns.ts"
import type { Recorder } from "./recorder.ts"
import type { SessionPorts } from "./session-ports.ts"

type PartsPorts = "clock" | "record" | "approvals" | "decided"

type SessionCalls = {
  /** Every now and then, and when something has changed by itself. */
  look(): void
  /** A turn is to be gone on with. */
  goOn(): void
  process(): AgentProcess | null
}

/** What a session knows, each part of it by itself. */
export class SessionParts {
  readonly meter = new Meter()
  readonly turns: RecordedTurns
  readonly budgets: Budgets
  readonly desk: QuestionDesk
  readonly holdUp: HoldUp
  readonly liveliness: Liveliness
  readonly identity: Identity
  readonly #record: Recorder

  constructor(
    start: HostStart,
    { clock, record, approvals, decided }: Pick<SessionPorts, PartsPorts>,
    calls: SessionCalls,
  ) {
    this.#record = record
    this.turns = new RecordedTurns(clock, record, () => this.meter.usage())
    this.budgets = new Budgets(start.spec, this.meter)
    this.desk = new QuestionDesk({
      clock,
      record,
      approvals,
      decided,
      process: () => calls.process(),
      changed: () => {
        this.liveliness.heard()
        calls.look()
      },
    })
    this.identity = new Identity(start, record)
    this.liveliness = new Liveliness(clock, () => calls.look())
    this.holdUp = new HoldUp(start.executionId, clock, {
      limit: (limit) => record.add("limit", limit),
      resumed: (after, attempt) => record.add("resumed", { after, attempt }),
      goOn: () => calls.goOn(),
    })
  }

  /** Goes on with an execution that ended with the service; its turns come first. */
  goOnWith({ of: execution_id, attempt, status, turns, problem }: HostRestart): void {
    if (status !== null) {
      this.meter.goOnFrom(status.usage, status.turns.responses)
      this.desk.goOnFrom(status.questions)
    }
    for (const turn of turns) this.turns.accept(turn, "next")
    if (problem !== null) this.#record.add("problem", { problem })
    // After the turns: whoever reads the log finds all of them, or those of the one before.
    this.#record.add("resumed", { after: "restart", attempt, execution_id })
  }

  /** Warns where a budget is nearly used up; answers one that was exceeded, or null. */
  checkBudgets(): BudgetUse | null {
    for (const use of this.budgets.warnings())
      this.#record.add("budget", { ...use, done: "warned" })
    return this.budgets.exceeded()
  }

  /** Puts what the agent does on record, where that is something else than before. */
  tellActivity({ isReady, restart }: Pick<Doing, "isReady" | "restart">): void {
    const { limitedUntil, retry } = this.holdUp
    const hasTurn = this.turns.current !== null
    const questions = this.desk.open
    const doing = { isReady, restart, limitedUntil, retry, hasTurn, questions }
    const activity = this.liveliness.change(doing)
    if (activity !== null) this.#record.add("activity", activity)
  }

  /** Another program takes its place: it counts anew, and asks again what it wants to know. */
  programDied(): void {
    this.meter.restart()
    this.liveliness.started()
    this.holdUp.stop()
    this.desk.abandonAll()
  }

  /** What the agent says, as far as it concerns one part alone. */
  hear(signal: Exclude<AgentSignal, { kind: "ready" | "turn-ended" }>): void {
    switch (signal.kind) {
      case "session":
        return this.identity.told(signal)
      case "configured":
        return this.identity.configured(signal)
      case "question":
        return this.desk.ask(signal.requestId, signal.question)
      case "withdrawn":
        return this.desk.withdraw(signal.requestId)
      case "thinking":
        return this.holdUp.isAnswered()
      case "response":
        this.holdUp.isAnswered()
        if (!signal.isSubagent) this.meter.responses += 1
        return
      case "tokens":
        return this.meter.addTokens(signal.tokens)
      case "cost":
        return this.meter.setTotal(signal.usage)
      case "retrying": {
        const { attempt, mostAttempts, delayMs, why } = signal
        return this.holdUp.agentRetries(attempt, mostAttempts, delayMs, why)
      }
      case "limit":
        return this.holdUp.limited(signal.limit)
      case "tool-started":
        return this.liveliness.toolStarted(signal.toolId, signal.tool)
      case "tool-progress":
        return this.liveliness.toolProgressed(signal.toolId)
      case "tool-ended":
        return this.liveliness.toolEnded(signal.toolId)
      case "compacting":
        return this.liveliness.compacting(signal.isOver)
      case "problem":
        return this.#record.add("problem", { problem: signal.problem })
    }
  }
}
