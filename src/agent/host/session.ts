import type { AgentStatus, BudgetUse, TurnOutcome } from "../../execution/agent.ts"
import type { HostStart, StampedOrder } from "../../protocol/agent-orders.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { AgentSignal, TurnEnd } from "../port.ts"
import { Program } from "./program.ts"
import { SessionParts } from "./session-parts.ts"
import type { SessionPorts } from "./session-ports.ts"
import { agentLeft, type Ending, endingBefore, sessionStatus } from "./session-status.ts"

/** How long a turn may go on after it was interrupted. */
const interruptMs = 15_000

/** To the agent, when its turn is gone on with after it was held up. */
const continueText = "Continue from where you left off."

type Order<Name extends StampedOrder["order"]> = Extract<StampedOrder, { order: Name }>

/**
 * One session of an agent, from its start to its end: gives it its turns one after another, and
 * decides what follows from what it says, from orders, and from what goes wrong.
 */
export class Session {
  readonly #start: HostStart
  readonly #ports: SessionPorts
  readonly #parts: SessionParts
  readonly #program: Program
  #continuations = 0
  #interruptedBy: string | null = null
  #ending: Ending | null = null
  #isOver = false

  constructor(start: HostStart, ports: SessionPorts) {
    this.#start = start
    this.#ports = ports
    const { clock, record } = ports
    this.#parts = new SessionParts(start, ports, {
      look: () => this.#changed(),
      goOn: () => this.#continue(),
      process: () => this.#program.process,
    })
    this.#program = new Program(ports.agent, clock, () => ports.endLeftovers(), {
      message: (json) => record.addMessage(json),
      messagePart: ({ text, part, isLast }) => record.add("message", { part, last: isLast, text }),
      mustAsk: ports.approvals.mustAsk,
      heard: () => this.#parts.liveliness.heard(),
      signal: (signal) => {
        this.#note(signal)
        this.#changed(signal.kind === "question")
      },
      problem: (problem) => record.add("problem", { problem }),
      died: () => this.#died(),
      resumed: (attempt) => record.add("resumed", { after: "crash", attempt }),
      failed: (how) => this.#fail(how),
      closed: () => this.#over(),
    })
  }

  /** Starts the agent, with the first turn if there is one. */
  begin(by: string): void {
    const { first, restart } = this.#start
    if (restart !== null) this.#parts.goOnWith(restart)
    this.#ending = endingBefore(restart?.status ?? null)
    if (first !== null) this.#parts.turns.accept({ ...first, by }, "next")
    this.#program.start(restart === null)
    this.#changed()
  }

  status(): AgentStatus {
    return sessionStatus(this.#start.spec, this.#parts, this.#program, this.#ending)
  }

  obey(order: StampedOrder): void {
    switch (order.order) {
      case "start":
        return this.#refuse(order, "WRONG_STATE", "The session has been started already.")
      case "send":
        return this.#send(order)
      case "answer":
        return this.#answer(order)
      case "interrupt":
        return void this.#interrupt(order.by).then(() => this.#ports.answered(order.id))
      case "configure":
        return void this.#configure(order)
      case "end":
        return this.#end(order)
    }
  }

  /** Told to end by a signal, with everything else of the execution. */
  terminated(): void {
    this.#ending = { cause: null, message: "It was told to end by a signal.", exitCode: 143 }
    this.#program.terminate()
  }

  #send(order: Order<"send">): void {
    const { turnId, content, by, when } = order
    if (this.#parts.turns.isKnown(turnId)) return this.#ports.answered(order.id)
    if (this.#ending !== null) {
      return this.#refuse(order, "WRONG_STATE", "The session is ending: it takes no more turns.")
    }
    if (this.#parts.turns.isFull) {
      const message = "Too many turns wait already: try again when some have ended."
      return this.#refuse(order, "AT_CAPACITY", message)
    }
    this.#parts.turns.accept({ turnId, content, by }, when)
    if (when === "now") void this.#interrupt(by)
    this.#next()
    this.#changed(true) // whoever has sent it must not find the session without a turn after that
    this.#ports.answered(order.id)
  }

  #answer(order: Order<"answer">): void {
    const refused = this.#parts.desk.answer(order)
    this.#parts.liveliness.heard()
    this.#changed(true) // whoever has answered must not find the question open after that
    this.#ports.answered(order.id, refused ?? undefined)
  }

  /** Ends the turn that is under way, and waits for its end. */
  async #interrupt(by: string): Promise<void> {
    const { current, isOver } = this.#parts.turns
    if (current === null) return
    this.#interruptedBy = by
    if (this.#parts.holdUp.isWaiting) {
      // The agent itself has nothing to do: only this session waits.
      this.#finishTurn("interrupted")
      this.#next()
      return this.#changed()
    }
    const { process } = this.#program
    if (process === null) return isOver // it is told as soon as it is there again
    const giveUp = (why: string) => this.#program.giveUpOn(process, why)
    if (!(await process.interrupt())) giveUp("does not answer to an interrupt")
    using _patience = this.#ports.clock.after(interruptMs, () => {
      giveUp("does not end the turn that was interrupted")
    })
    await isOver
  }

  async #configure(order: Order<"configure">): Promise<void> {
    const { model, permissionMode, by } = order
    const { process } = this.#program
    const refused =
      process === null
        ? "The agent's program is being started: try again in a moment."
        : await process.configure({ model, permissionMode })
    if (refused !== null) return this.#refuse(order, "WRONG_STATE", refused)
    this.#ports.record.add("configured", { by, model, permission_mode: permissionMode })
    this.#ports.answered(order.id)
    this.#changed()
  }

  #end(order: Order<"end">): void {
    this.#ending ??= { cause: null, message: `${order.by} ended it.`, exitCode: null }
    this.#ports.answered(order.id)
    if (order.now) {
      this.#parts.turns.dropWaiting("interrupted", null)
      void this.#interrupt(order.by)
    }
    this.#next()
    this.#changed()
  }

  /** Gives the agent its next turn, or ends the session, as soon as there is none under way. */
  #next(): void {
    if (this.#parts.turns.current !== null) return
    const usedUp = this.#parts.turns.counts.waiting > 0 ? this.#parts.budgets.usedUp() : null
    if (usedUp !== null) this.#stopForBudget(usedUp)
    const isLast = this.#parts.turns.counts.waiting === 0
    if (this.#ending !== null && (isLast || this.#ending.cause !== null)) {
      return this.#program.close()
    }
    const agent = this.#program.ready
    const turn = agent === null ? null : this.#parts.turns.begin()
    if (turn === null) return
    this.#parts.liveliness.heard()
    agent?.send(turn.turnId, turn.content)
  }

  /** The agent takes turns. It may have died in the middle of one, which it knows by its name. */
  #ready(): void {
    const turn = this.#parts.turns.current
    if (turn === null) return this.#next()
    if (this.#interruptedBy === null) {
      this.#program.ready?.send(turn.turnId, turn.content)
      return
    }
    this.#finishTurn("interrupted")
    this.#next()
  }

  /** The turn's own name would be ignored by now: it is gone on with under another one. */
  #continue(): void {
    this.#continuations += 1
    const name = `${this.#parts.turns.current?.turnId ?? "turn"} continued ${this.#continuations}`
    this.#program.ready?.send(name, continueText)
    this.#parts.liveliness.heard()
    this.#changed()
  }

  #turnEnded(end: TurnEnd): void {
    this.#parts.liveliness.stopped()
    if (end.isAgentsOwn) return this.#parts.turns.tell(null, end.outcome, end)
    const mayGoOn =
      this.#parts.turns.current !== null && this.#interruptedBy === null && this.#ending === null
    if (mayGoOn && end.mayContinue === "at-limit" && this.#start.spec.onLimit === "wait") {
      return this.#parts.holdUp.waitForLimit()
    }
    if (mayGoOn && end.mayContinue === "later" && this.#parts.holdUp.mayRetry) {
      return this.#parts.holdUp.retryLater(end.result ?? "an error of the API")
    }
    this.#parts.holdUp.forgetRetries()
    this.#program.forgetCrashes()
    const wasInterrupted = this.#interruptedBy !== null && end.outcome !== "success"
    this.#finishTurn(wasInterrupted ? "interrupted" : end.outcome, end)
    if (end.outcome === "limit") {
      const message = "A usage limit was reached, and the session was started with on_limit: stop."
      this.#ending ??= { cause: "usage-limit", message, exitCode: 1 }
    }
    this.#next()
  }

  #finishTurn(outcome: TurnOutcome, end: Partial<TurnEnd> = {}): void {
    this.#parts.holdUp.stop()
    this.#parts.desk.withdrawAbandoned()
    this.#parts.turns.finish(outcome, end, this.#interruptedBy)
    this.#interruptedBy = null
  }

  #note(signal: AgentSignal): void {
    if (signal.kind === "ready") return this.#ready()
    if (signal.kind === "turn-ended") return this.#turnEnded(signal)
    this.#parts.hear(signal)
    const { budgets } = this.#parts
    if (signal.kind === "response" && budgets.countsCost) this.#program.process?.askForUsage()
    if (/^(?:response|tokens|cost)$/.test(signal.kind)) this.#checkBudgets()
  }

  #checkBudgets(): void {
    const exceeded = this.#parts.checkBudgets()
    if (exceeded !== null) this.#stopForBudget(exceeded)
  }

  #stopForBudget(use: BudgetUse): void {
    if (this.#ending?.cause === "budget") return
    const message = `The budget of ${use.budget} is used up: ${use.used} of ${use.limit}.`
    this.#ending = { cause: "budget", message, exitCode: 1 }
    this.#ports.record.add("budget", { ...use, done: "ended the session" })
    this.#parts.turns.dropWaiting("error", message)
    void this.#interrupt("budget")
  }

  #died(): void {
    this.#parts.programDied()
    this.#changed()
  }

  /** There is no way to go on. */
  #fail(how: string): void {
    const message = `The agent's program ${how}. It has died ${this.#program.crashes} times.`
    this.#ending = { cause: "agent-failed", message, exitCode: 1 }
    if (this.#parts.turns.current !== null) this.#finishTurn("error", { result: message })
    this.#parts.turns.dropWaiting("error", message)
    this.#program.close()
  }

  #over(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#parts.turns.current !== null) this.#finishTurn("interrupted")
    this.#parts.liveliness[Symbol.dispose]()
    this.#parts.desk.withdrawAll()
    const { cause, message, exitCode } = this.#ending ?? agentLeft
    const { isGoodSoFar } = this.#parts.turns
    this.#ports.ended({ cause, message, exitCode: exitCode ?? (isGoodSoFar ? 0 : 1) })
  }

  #changed(isUrgent = false): void {
    this.#parts.tellActivity(this.#program)
    this.#ports.statusChanged(isUrgent)
  }

  #refuse({ id }: StampedOrder, reason: Failure["reason"], message: string): void {
    this.#ports.answered(id, { reason, message })
  }
}
