import { CallError, ClientClosedError, ConnectionLostError } from "../client/client-error.ts"
import { errnoOf } from "../lib/errno.ts"

/** Ends a command: `message` says what happened and what to do. */
export class CommandFailure extends Error {
  override readonly name: string = "CommandFailure"
  /** What the program exits with; null leaves it to the command. */
  readonly exitCode: number | null

  constructor(message: string, exitCode: number | null = null) {
    super(message)
    this.exitCode = exitCode
  }
}

/** The command line itself is wrong. */
export class UsageFailure extends CommandFailure {
  override readonly name = "UsageFailure"

  constructor(message: string) {
    super(message, 2)
  }
}

/** Does something with a file; what keeps the system from doing it is told in these words. */
export function orFail<Value>(work: () => Value, say: (errno: string) => string): Value {
  try {
    return work()
  } catch (error) {
    const errno = errnoOf(error)
    if (error instanceof CommandFailure || errno === null) throw error
    throw new CommandFailure(say(errno))
  }
}

/** One line for people. The server's own words stay as they are: they say what to do. */
export function describeError(error: unknown): string {
  if (error instanceof CallError) return asSentence(error.message)
  const isExpected =
    error instanceof CommandFailure ||
    error instanceof ConnectionLostError ||
    error instanceof ClientClosedError
  if (isExpected) return error.message
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `this is a bug in cc-executor, please report it: ${what}`
}

export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
