import type { StopCause } from "../../execution/state.ts"
import type { RuleDecision } from "../../protocol/agent-host.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { Agent } from "../port.ts"
import type { Approvals } from "./approvals.ts"
import type { HostClock } from "./host-clock.ts"
import type { Recorder } from "./recorder.ts"

/** What a session needs of the world around it. */
export type SessionPorts = {
  agent: Agent
  clock: HostClock
  record: Recorder
  approvals: Approvals
  /** The status has changed, and should be told before long; at once where it is urgent. */
  statusChanged(isUrgent: boolean): void
  /** An order was carried out, or refused. */
  answered(orderId: string, failure?: Failure): void
  /** A rule has answered a question. */
  decided(decision: RuleDecision): void
  endLeftovers(): Promise<number>
  /** It is over: nothing comes after this. */
  ended(ending: { cause: StopCause | null; message: string; exitCode: number }): void
}
