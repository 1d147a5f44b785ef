import type { AgentSpec } from "../execution/agent.ts"
import type { OwnedRule } from "../execution/judge-question.ts"
import type { HostRestart } from "./agent-restart.ts"

/**
 * What the keeper and the host of an agent's session say to each other, one JSON object a line. A
 * host may be older than the keeper after an upgrade: hence the version.
 */
export const hostVersion = 1

/** Added by the keeper: no client can speak in another one's name. */
export type Stamp = { v: number; id: string; by: string; at: string }

export type TurnContent = string | readonly { readonly type: string }[]

export type HostStart = {
  executionId: string
  /** The agent's program as it was judged, with the further arguments that were asked for. */
  argv: readonly string[]
  argv0: string | null
  cwd: string
  spec: AgentSpec
  /** What is decided without a person: the service's rules first, then the session's. */
  approval: readonly OwnedRule[]
  /** The prompt, where there is one. */
  first: { turnId: string; content: string } | null
  /** Where it goes on with an execution that ended with the service. */
  restart: HostRestart | null
}

export type AgentOrder =
  | { order: "start"; start: HostStart }
  | { order: "send"; turnId: string; content: TurnContent; when: "next" | "now" }
  | {
      order: "answer"
      questionId: string
      behavior: "allow" | "deny"
      updatedInput: Record<string, unknown> | null
      message: string | null
      remember: boolean
    }
  | { order: "interrupt" }
  | { order: "configure"; model: string | null; permissionMode: string | null }
  /** `now` interrupts the turn that is under way; otherwise it may finish. */
  | { order: "end"; now: boolean }

/** What clients may order; the first order is the keeper's own. */
export type ClientOrder = Exclude<AgentOrder, { order: "start" }>

export type StampedOrder = Stamp & AgentOrder

/** Nothing longer is taken for a message of a host. */
export const mostStatusBytes = 64 * 1024
