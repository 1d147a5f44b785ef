import type { ExecutionId } from "../../../execution/id.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { ExecutionState } from "../../../execution/state.ts"
import { fail, type Result } from "../../../lib/result.ts"
import { type Failure, failure } from "../../../protocol/failure.ts"

export function wrongState({ kind }: ExecutionState, verb: string): Result<never, Failure> {
  return fail(failure("WRONG_STATE", `It is ${kind} and cannot be ${verb}.`, { state: kind }))
}

export function noInput({ kind }: ExecutionState): Result<never, Failure> {
  const message = "Its standard input is closed: start it with stdin `pipe` to send input."
  return fail(failure("WRONG_STATE", message, { state: kind }))
}

export function noAgent({ kind }: ExecutionState): Result<never, Failure> {
  const message = "It is a command, not an agent's session: `agent.start` starts one."
  return fail(failure("WRONG_STATE", message, { state: kind }))
}

export function agentTakesTurns({ kind }: ExecutionState): Result<never, Failure> {
  const message = "It is an agent's session: send it a turn (`agent.send`) instead of input."
  return fail(failure("WRONG_STATE", message, { state: kind }))
}

export function noTerminal({ kind }: ExecutionState): Result<never, Failure> {
  const message = "It does not run on a terminal: start it with `terminal` to resize it."
  return fail(failure("WRONG_STATE", message, { state: kind }))
}

/** It is not live: it has ended, or never was, or its keeper was lost. */
export function tooLate(
  id: ExecutionId,
  record: ExecutionRecord | null,
  verb: string,
): Result<never, Failure> {
  if (record === null) {
    return fail(failure("PROCESS_NOT_FOUND", `Unknown execution: ${id}.`))
  }
  const { kind: state } = record.state
  if (record.restart?.kind === "restarted") {
    const { as } = record.restart
    const message = `Execution ${id} ended with the service; its session goes on as ${as}.`
    return fail(failure("WRONG_STATE", message, { state, restarted_as: as }))
  }
  const why = state === "ended" ? "has already ended" : `was left ${state}`
  const message = `Execution ${id} ${why}: there is nothing to ${verb.toLowerCase()}.`
  return fail(failure("WRONG_STATE", message, { state }))
}
