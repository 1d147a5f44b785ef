import { CallError, ClientClosedError, ConnectionLostError } from "../client/client-error.ts"
import { CommandFailure } from "./failure.ts"

/** One line for people. The server's own words stay as they are: they say what to do. */
export function describeError(error: unknown): string {
  if (error instanceof CallError) return asSentence(error.message)
  const isExpected =
    error instanceof CommandFailure ||
    error instanceof ConnectionLostError ||
    error instanceof ClientClosedError
  if (isExpected) return error.message
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `this is a fault of cc-executor itself, please report it: ${what}`
}

export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
