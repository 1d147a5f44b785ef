import { CallError, ClientClosedError, ConnectionLostError } from "../client/client-error.ts"
import { errnoOf } from "../lib/errno.ts"
import { onOneLine } from "../lib/harmless-text.ts"
import { UntrustedFileError } from "../lib/untrusted-file.ts"

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
    throw inWords(error, say)
  }
}

/** The same for what takes a while. */
export async function orFailLater<Value>(
  work: Promise<Value>,
  say: (errno: string) => string,
): Promise<Value> {
  try {
    return await work
  } catch (error) {
    throw inWords(error, say)
  }
}

function inWords(error: unknown, say: (errno: string) => string): unknown {
  const errno = errnoOf(error)
  const isSaid = error instanceof CommandFailure || errno === null
  return isSaid ? error : new CommandFailure(say(errno))
}

/** One line for people. The server's own words are kept: they say what to do. */
export function describeError(error: unknown): string {
  if (error instanceof CallError) return asSentence(onOneLine(error.message))
  const isExpected =
    error instanceof CommandFailure ||
    error instanceof UntrustedFileError ||
    error instanceof ConnectionLostError ||
    error instanceof ClientClosedError
  if (isExpected) return error.message
  if (error instanceof Error && error.message === withoutCodeMemory) return tooLittleAddressSpace
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `this is a bug in cc-executor, please report it: ${what}`
}

/** After what a service has refused: which one that was, where a saved context has named it. */
export function contextNote(name: string | null): string {
  return name === null ? "" : ` (context "${name}")`
}

/** What Bun says when it could reserve no memory for machine code, and goes on without. */
const withoutCodeMemory = "bun:ffi requires the JIT"
const tooLittleAddressSpace =
  "The runtime could not reserve the address space that it needs: remove the limit " +
  "(`ulimit -v`), or raise it to 3 GiB or more. What is reserved is not what is used."

export function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`
}
