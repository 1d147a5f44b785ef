import type { Question, Tokens, TurnOutcome, UsageLimit } from "../execution/agent.ts"
import type { TurnContent } from "../protocol/agent-orders.ts"

/**
 * What a session needs of an agent, whichever it is. An adapter starts the agent's program, puts
 * turns and answers into its words, and tells what its words mean. The words themselves are kept
 * untouched.
 */

export type QuestionAsked = Omit<Question, "question_id" | "asked_at" | "replaces" | "input_bytes">

export type AgentSignal =
  /** It can be given turns. */
  | { kind: "ready" }
  | {
      kind: "session"
      sessionId: string
      version: string | null
      model: string | null
      permissionMode: string | null
    }
  | { kind: "question"; requestId: string; question: QuestionAsked }
  | { kind: "withdrawn"; requestId: string }
  /** The model was asked, or something of its answer has come. */
  | { kind: "thinking" }
  /** An answer of the model begins; of the agent itself, or of a subagent. */
  | { kind: "response"; isSubagent: boolean }
  | { kind: "tool-started"; toolId: string; tool: string }
  | { kind: "tool-progress"; toolId: string }
  | { kind: "tool-ended"; toolId: string }
  | { kind: "retrying"; attempt: number; mostAttempts: number; delayMs: number; why: string }
  | { kind: "compacting"; isOver: boolean }
  | { kind: "limit"; limit: UsageLimit }
  | { kind: "tokens"; tokens: Tokens }
  | { kind: "cost"; usage: TotalUsage }
  | { kind: "configured"; model: string | null; permissionMode: string | null }
  | ({ kind: "turn-ended" } & TurnEnd)
  | { kind: "problem"; problem: string }

/** As the agent's program counts it, since it was started. */
export type TotalUsage = {
  costUsd: number
  byModel: Record<string, Tokens & { cost_usd: number }>
  contextWindow: number | null
}

export type TurnEnd = {
  /** Whether it was one that the agent had begun by itself, not one that it was given. */
  isAgentsOwn: boolean
  outcome: TurnOutcome
  result: string | null
  structuredOutput: unknown
  durationMs: number | null
  /** Worth another try by itself: a usage limit, or an API that is overloaded or out of reach. */
  mayContinue: "at-limit" | "later" | null
}

export type AnswerToAgent =
  | { behavior: "allow"; input: unknown; suggestions: readonly unknown[] }
  | { behavior: "deny"; message: string }

/** One run of an agent's program. */
export interface AgentProcess {
  readonly pid: number
  /** Resolves with how it ended, in words, after everything it said was passed on. */
  readonly ended: Promise<string>
  send(turnId: string, content: TurnContent): void
  answer(requestId: string, answer: AnswerToAgent): void
  /** Ends the turn that is under way; false when it does not answer. */
  interrupt(): Promise<boolean>
  /** Answers why not, or null when it is done. */
  configure(change: { model: string | null; permissionMode: string | null }): Promise<string | null>
  /** Asks what the turn has cost so far: it is told by a signal. */
  askForUsage(): void
  /** No more turns come: it ends when it is done. */
  endInput(): void
  kill(signal: "SIGTERM" | "SIGKILL"): void
}

export type AgentEvents = {
  /** A line that it said, as it is. */
  message(json: string): void
  /** A part of a line that is too long to be looked at as a whole. */
  messagePart(part: { text: string; part: number; isLast: boolean }): void
  signal(signal: AgentSignal): void
  /** It said something, whatever it was. */
  heard(): void
  /**
   * Whether it must ask before it uses a tool, whatever it was allowed before; null where there is
   * nothing that it would have to ask about.
   */
  mustAsk: ((tool: string | null, input: unknown) => boolean) | null
}

export type AgentRun =
  | { kind: "new" }
  /** Goes on with the session where it stands. */
  | { kind: "resume" }

export interface Agent {
  /** Whether the agent has something of the session that it could go on with. */
  hasSession(): boolean
  start(run: AgentRun, events: AgentEvents): AgentProcess
}
