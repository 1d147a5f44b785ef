import type { ExecutionId } from "../../execution/id.ts"
import type { AgentOptions } from "../../protocol/agent.ts"
import type { ExecuteParams } from "../../protocol/execute.ts"
import type { AdmissionSettings } from "./admission/admission.ts"
import type { Clock, Descriptors, Journal, Programs, Spawner, TranscriptStore } from "./ports.ts"
import type { PlanSettings } from "./starting/plan.ts"
import type { SupervisionPorts, SupervisionSettings } from "./supervision/supervision-ports.ts"
import type { Trials } from "./trials/trials.ts"

export type KeeperSettings = AdmissionSettings & {
  plan: () => PlanSettings
  supervision: SupervisionSettings
}

export type AgentStartPorts = {
  /** How this very program is started, as the host of an agent. */
  ownProgram(): readonly string[]
  /** A name for a session or a turn that nobody has used. */
  newUuid(): string
  /** The process that has an agent's session open, whoever started it; null when none has. */
  processWithSession(env: Record<string, string>, sessionId: string): number | null
}

export type KeeperPorts = Omit<SupervisionPorts, "spawner" | "transcripts"> &
  AgentStartPorts & {
    clock: Clock
    spawner: Spawner
    transcripts: TranscriptStore
    store: Journal
    programs: Programs
    descriptors: Descriptors
    /** Of the disk that transcripts are on; infinite where it has no fixed number of them. */
    freeInodes: () => number
    /** Runs a write of the store; false when the disk has no room for it. */
    withoutReserve(write: () => void): boolean
    /** The same for what makes room, or takes back: there is a reserve for it. */
    withReserve(write: () => void): boolean
    newId(): ExecutionId
    /** The same for the same request, whatever the order of its fields. */
    fingerprint: (request: ExecuteParams, agent: AgentOptions | null) => string
    /** What a request starts, where it may be a step of a trial. */
    prepareStart: Trials["prepareStart"]
    /** Why an execution must not be removed yet; null when it may be. */
    whyNeeded: Trials["whyNeeded"]
    signalNumber(signal: string | number): number | null
  }
