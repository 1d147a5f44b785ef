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
