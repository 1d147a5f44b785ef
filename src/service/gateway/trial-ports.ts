import type { ExecutionId } from "../../execution/id.ts"
import type { Digest, TrialId } from "../../execution/trial/announcement.ts"
import type { RecordedTrial } from "../../execution/trial/recorded-trial.ts"
import type { Result } from "../../lib/result.ts"
import type { Failure } from "../../protocol/failure.ts"
import type { MethodName, ParsedParamsOf, ResultOf } from "../../protocol/methods.ts"
import type { Caller } from "../access/caller.ts"

type TrialMethod = Extract<MethodName, `trial.${string}`>

/** What can be asked about trials: one function for each method `trial.…`. */
export type TrialOperations = {
  [Method in TrialMethod as Method extends `trial.${infer Name}` ? Name : never]: (
    caller: Caller,
    params: ParsedParamsOf<Method>,
  ) => Promise<Result<ResultOf<Method>, Failure>>
}

/** What the gateway reads of trials. */
export interface TrialJournal {
  hasOpenTrials(): boolean
  /** With the executions of those of its steps that were started. */
  trial(id: TrialId): (RecordedTrial & { steps: ReadonlyMap<string, StartedStep> }) | null
  /** The latest chain that is meant, of one principal or of any. */
  trialChain(sought: TrialSought, principal: string | null): TrialChain | null
  /** From this number on, in their order. */
  trials(chain: TrialChain, from: number, limit: number): Iterable<RecordedTrial>
}

type StartedStep = { executionId: ExecutionId; hasEnded: boolean }

export type TrialSought = Partial<Record<"chain" | "path" | "name" | "kind", string | undefined>>

export type TrialChain = {
  principal: string
  chain: Digest
  head: { sequence: number; digest: Digest }
}
