import { fail, type Result } from "../execution/result.ts"
import type { ExecutionState } from "../execution/state.ts"
import { type Failure, failure } from "../protocol/failure.ts"

/** It is not in a state in which that could be done to it. */
export function wrongState({ kind }: ExecutionState, verb: string): Result<never, Failure> {
  return fail(failure("WRONG_STATE", `It is ${kind} and cannot be ${verb}.`, { state: kind }))
}

export function noInput({ kind }: ExecutionState): Result<never, Failure> {
  const message = "Its standard input is closed: start it with stdin `pipe` to send input."
  return fail(failure("WRONG_STATE", message, { state: kind }))
}

export function noTerminal({ kind }: ExecutionState): Result<never, Failure> {
  const message = "It does not run on a terminal: start it with `terminal` to resize it."
  return fail(failure("WRONG_STATE", message, { state: kind }))
}
