import {
  type Arguments,
  asksForHelp,
  givenValues,
  helpOption,
  type OptionTable,
  readArguments,
} from "./arguments.ts"
import type { Context } from "./context.ts"
import { UsageFailure } from "./failure.ts"

export type Command = {
  readonly help: CommandHelp
  /** The exit code of a failure that does not bring its own. */
  readonly failureExitCode: number
  asksForHelp(argv: readonly string[]): boolean
  /** The options among the arguments that have a value, by their names. */
  given?(argv: readonly string[]): Readonly<Record<string, string | undefined>>
  /** Answers the exit code. Failures are thrown, as CommandFailure where they are expected. */
  execute(context: Context, argv: readonly string[]): Promise<number>
}

export type CommandHelp = {
  /** What may follow `cc-executor`, beginning with the command's name. */
  readonly usage: readonly string[]
  /** What the summary does not say. */
  readonly about?: string
  readonly options: OptionTable
  /** Commands by what they do. */
  readonly examples: Readonly<Record<string, string>>
}

/** Any number where `atMost` is left out; `what` names what is missing. */
type Operands = { readonly atLeast: number; readonly atMost?: number; readonly what: string }

export type Definition<Options extends OptionTable> = CommandHelp & {
  readonly options: Options
  /** None where this is left out. */
  readonly operands?: Operands
  /** Options end at the first operand. */
  readonly passThrough?: boolean
  readonly failureExitCode?: number
  run(context: Context, args: Arguments<Options>): Promise<number>
}

export function command<const Options extends OptionTable>(
  definition: Definition<Options>,
): Command {
  const { usage, about, options, examples, passThrough = false } = definition
  const help = { usage, options: { ...options, ...helpOption }, examples }
  return {
    help: about === undefined ? help : { ...help, about },
    failureExitCode: definition.failureExitCode ?? 1,
    asksForHelp: (argv) => asksForHelp(argv, help.options, passThrough),
    given: (argv) => givenValues(argv, options, passThrough),
    execute(context, argv) {
      const args = readArguments(argv, options, passThrough)
      checkOperands(args.operands, definition.operands ?? noOperands)
      return definition.run(context, args)
    },
  }
}

const noOperands: Operands = { atLeast: 0, atMost: 0, what: "" }

function checkOperands(
  operands: readonly string[],
  { atLeast, atMost = Number.POSITIVE_INFINITY, what }: Operands,
): void {
  if (operands.length < atLeast) throw new UsageFailure(`${what} is missing.`)
  if (operands.length <= atMost) return
  const extra = operands.slice(atMost).join(" ")
  throw new UsageFailure(`Unexpected argument: ${extra}.`)
}
