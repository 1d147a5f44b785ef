import { Approvals } from "../../../src/agent/host/approvals.ts"
import { EventLog } from "../../../src/agent/host/event-log.ts"
import { Recorder } from "../../../src/agent/host/recorder.ts"
import { Session } from "../../../src/agent/host/session.ts"
import type {
  Agent,
  AgentEvents,
  AgentProcess,
  AgentRun,
  AgentSignal,
  AnswerToAgent,
} from "../../../src/agent/port.ts"
import type { AgentSpec } from "../../../src/execution/agent.ts"
import type { OwnedRule } from "../../../src/execution/judge-question.ts"
import type { RuleDecision } from "../../../src/protocol/agent-host.ts"
import type { AgentOrder } from "../../../src/protocol/agent-orders.ts"
import type { HostRestart } from "../../../src/protocol/agent-restart.ts"
import type { Failure } from "../../../src/protocol/failure.ts"
import { ManualClock } from "../../support/manual-clock.ts"

/** An agent's program that does what a test says. */
export class ScriptedProcess implements AgentProcess {
  readonly pid = 1
  readonly #ended = Promise.withResolvers<string>()
  readonly ended = this.#ended.promise
  readonly sent: { turnId: string; content: unknown }[] = []
  readonly answers: { requestId: string; answer: AnswerToAgent }[] = []
  readonly signals: string[] = []
  interrupts = 0
  isInputEnded = false
  answersInterrupts = true
  usageAsked = 0

  readonly run: AgentRun
  readonly events: AgentEvents

  constructor(run: AgentRun, events: AgentEvents) {
    this.run = run
    this.events = events
  }

  say(...signals: AgentSignal[]): void {
    for (const signal of signals) this.events.signal(signal)
  }

  async dies(how: string): Promise<void> {
    this.#ended.resolve(how)
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }

  send(turnId: string, content: unknown): void {
    this.sent.push({ turnId, content })
  }

  answer(requestId: string, answer: AnswerToAgent): void {
    this.answers.push({ requestId, answer })
  }

  async interrupt(): Promise<boolean> {
    this.interrupts += 1
    return this.answersInterrupts
  }

  async configure(): Promise<string | null> {
    return null
  }

  askForUsage(): void {
    this.usageAsked += 1
  }

  endInput(): void {
    this.isInputEnded = true
  }

  kill(signal: string): void {
    this.signals.push(signal)
  }
}

type Event = Record<string, unknown> & { event: string }

const spec: AgentSpec = {
  agent: "claude",
  sessionId: "00000000-0000-4000-8000-000000000001",
  resumedFrom: null,
  fork: false,
  model: null,
  permissionMode: null,
  maxTurns: null,
  maxCostUsd: null,
  maxTokens: null,
  onLimit: "wait",
  restart: "resume",
  envFile: null,
}

/** A session with a scripted agent, a clock that is moved by hand, and all that it has told. */
export class StagedSession implements Agent {
  readonly clock = new ManualClock()
  readonly processes: ScriptedProcess[] = []
  readonly events: Event[] = []
  readonly answers: { id: string; failure: Failure | undefined }[] = []
  readonly decisions: RuleDecision[] = []
  readonly session: Session
  endedWith: { cause: string | null; exitCode: number } | null = null
  leftovers = 0
  #orders = 0

  constructor(
    more: Partial<AgentSpec> = {},
    prompt: string | null = null,
    approval: readonly OwnedRule[] = [],
    restart: HostRestart | null = null,
  ) {
    const log = new EventLog(
      (bytes) => void this.events.push(JSON.parse(Buffer.from(bytes).toString("utf8"))),
      () => this.clock.now(),
    )
    const first = prompt === null ? null : { turnId: "first", content: prompt }
    const start = { argv: ["claude"], argv0: null, cwd: "/", executionId: "aaaa" }
    this.session = new Session(
      { ...start, approval: [], first, restart, spec: { ...spec, ...more } },
      {
        agent: this,
        clock: this.clock,
        approvals: new Approvals(this.clock, approval, "/srv/work"),
        record: new Recorder(log, () => this.session.status()),
        statusChanged: () => undefined,
        answered: (id, failure) => void this.answers.push({ id, failure }),
        decided: (decision) => void this.decisions.push(decision),
        endLeftovers: async () => this.leftovers,
        ended: ({ cause, exitCode }) => {
          this.endedWith = { cause, exitCode }
        },
      },
    )
    this.session.begin("alice")
  }

  get process(): ScriptedProcess {
    const process = this.processes.at(-1)
    if (process === undefined) throw new Error("nothing was started")
    return process
  }

  hasSession(): boolean {
    return true
  }

  start(run: AgentRun, events: AgentEvents): AgentProcess {
    const process = new ScriptedProcess(run, events)
    this.processes.push(process)
    return process
  }

  /** Gives an order, and answers why it was refused; undefined when it was not. */
  order(order: AgentOrder, by = "alice"): Failure | undefined {
    this.#orders += 1
    const id = `order-${this.#orders}`
    this.session.obey({ v: 1, id, by, at: this.clock.now().toISOString(), ...order })
    return this.answers.find((answer) => answer.id === id)?.failure
  }

  named(event: string): Event[] {
    return this.events.filter((one) => one.event === event)
  }
}

export const succeeded: Extract<AgentSignal, { kind: "turn-ended" }> = {
  kind: "turn-ended",
  outcome: "success",
  result: "done",
  structuredOutput: null,
  durationMs: 1,
  isAgentsOwn: false,
  mayContinue: null,
}

export const send = (turnId: string, when: "next" | "now" = "next") =>
  ({ order: "send", turnId, content: `do ${turnId}`, when }) as const

export const ended = (
  more: Partial<Extract<AgentSignal, { kind: "turn-ended" }>>,
): AgentSignal => ({ ...succeeded, ...more, kind: "turn-ended" })

export const day = 86_400_000

export const state = (stage: StagedSession) => stage.session.status().activity.state
