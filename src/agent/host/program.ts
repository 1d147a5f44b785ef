import { messageOf } from "../../lib/errno.ts"
import type { Agent, AgentEvents, AgentProcess, AgentSignal } from "../port.ts"
import type { HostClock } from "./host-clock.ts"

const mostRestarts = 5
const goodbyeMs = 30_000
const killMs = 5_000

export type ProgramEvents = Pick<AgentEvents, "message" | "messagePart" | "heard" | "mustAsk"> & {
  signal(signal: AgentSignal): void
  problem(problem: string): void
  /** It has died, and is started again in a moment. */
  died(): void
  /** It is being started again, after so many deaths in a row. */
  resumed(attempt: number): void
  /** It is not started again, because it dies again and again. */
  failed(how: string): void
  /** It was closed, and nothing of it is left. */
  closed(): void
}

export type Restart = { attempt: number; mostAttempts: number; why: string }

/** An agent's program over the time of a session: started again when it dies. */
export class Program {
  readonly #agent: Agent
  readonly #clock: HostClock
  readonly #endLeftovers: () => Promise<number>
  readonly #events: ProgramEvents
  #process: AgentProcess | null = null
  #restart: Restart | null = null
  #isReady = false
  #isClosing = false
  #crashes = 0
  #crashesInARow = 0

  constructor(
    agent: Agent,
    clock: HostClock,
    /** Ends whatever it has left behind; answers how many processes that were. */
    endLeftovers: () => Promise<number>,
    events: ProgramEvents,
  ) {
    this.#agent = agent
    this.#clock = clock
    this.#endLeftovers = endLeftovers
    this.#events = events
  }

  /** Null while it is not there. */
  get process(): AgentProcess | null {
    return this.#process
  }

  /** Null unless it takes turns. */
  get ready(): AgentProcess | null {
    return this.#isReady && !this.#isClosing ? this.#process : null
  }

  get isReady(): boolean {
    return this.#isReady
  }

  get restart(): Restart | null {
    return this.#restart
  }

  get crashes(): number {
    return this.#crashes
  }

  /** A turn has ended: it has not died again and again. */
  forgetCrashes(): void {
    this.#crashesInARow = 0
  }

  start(isFirst = true): void {
    this.#isReady = false
    this.#restart = null
    const { message, messagePart, heard, mustAsk } = this.#events
    let process: AgentProcess
    const signal = (said: AgentSignal) => {
      if (this.#process !== process) return
      if (said.kind === "ready") this.#isReady = true
      this.#events.signal(said)
    }
    try {
      const kind = !isFirst && this.#agent.hasSession() ? "resume" : "new"
      process = this.#agent.start({ kind }, { message, messagePart, heard, mustAsk, signal })
    } catch (error) {
      this.#events.failed(`could not be started: ${messageOf(error)}`)
      return
    }
    this.#process = process
    void process.ended.then((how) => this.#died(process, how))
  }

  /** No more turns: it may finish, and is then ended, if need be. */
  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    const process = this.#process
    if (process === null) return this.#events.closed()
    process.endInput()
    const polite = this.#clock.after(goodbyeMs, () => process.kill("SIGTERM"))
    const hard = this.#clock.after(goodbyeMs + killMs, () => process.kill("SIGKILL"))
    void process.ended.then(() => polite[Symbol.dispose]())
    void process.ended.then(() => hard[Symbol.dispose]())
  }

  /** Everything of the execution was told to end by a signal, this program too. */
  terminate(): void {
    const process = this.#process
    this.close()
    if (process === null) return
    const hard = this.#clock.after(killMs, () => process.kill("SIGKILL"))
    void process.ended.then(() => hard[Symbol.dispose]())
  }

  giveUpOn(process: AgentProcess, why: string): void {
    if (this.#process !== process) return
    this.#events.problem(`The agent's program ${why}: it is ended.`)
    process.kill("SIGKILL")
  }

  async #died(process: AgentProcess, how: string): Promise<void> {
    if (this.#process !== process) return
    this.#process = null
    this.#isReady = false
    const left = await this.#endLeftovers()
    if (this.#isClosing) return this.#events.closed()
    this.#crashes += 1
    this.#crashesInARow += 1
    const ended = left === 0 ? "" : ` Processes that it had left behind were ended: ${left}.`
    this.#events.problem(`The agent's program ${how}.${ended}`)
    const attempt = this.#crashesInARow
    if (attempt > mostRestarts) return this.#events.failed(how)
    this.#restart = { attempt, mostAttempts: mostRestarts, why: how.slice(0, 200) }
    this.#events.died()
    const delayMs = attempt === 1 ? 0 : 1000 * 2 ** (attempt - 2)
    this.#clock.after(delayMs, () => {
      if (this.#isClosing) return
      this.#events.resumed(attempt)
      this.start(false)
    })
  }
}
