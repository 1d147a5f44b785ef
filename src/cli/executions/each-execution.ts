import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { type Command, type CommandHelp, command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { type Reached, reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { contextNote, describeError } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"
import { type MeantExecution, meantExecution } from "./meant-execution.ts"

/** Answers what to say. */
type Work = (client: Client, meant: MeantExecution) => Promise<string>

/** A command that does the same with each of the executions it is given. */
export function eachExecutionCommand(
  definition: Omit<CommandHelp, "options"> & { spinner?: string; work: Work },
): Command {
  const { spinner, work, ...help } = definition
  return command({
    ...help,
    options: addressOptions,
    operands: { atLeast: 1, what: "The execution id" },
    async run(context, { values, operands }) {
      await using reached = await reach(context, values, "with-journal")
      await using _spinner = spinner === undefined ? null : spin(context, spinner)
      return await eachExecution(context, reached, operands, work)
    },
  })
}

/** All at once. A refusal of one keeps nobody else from being served; the exit code tells of it. */
export async function eachExecution(
  context: Pick<Context, "stderr">,
  reached: Pick<Reached, "client" | "address">,
  typed: readonly string[],
  work: Work,
): Promise<number> {
  const outcomes = await Promise.all(typed.map((one) => attempt(reached, one, work)))
  for (const { text } of outcomes) await context.stderr.write(`${onOneLine(text)}\n`)
  return outcomes.every(({ isDone }) => isDone) ? 0 : 1
}

async function attempt(
  { client, address }: Pick<Reached, "client" | "address">,
  typed: string,
  work: Work,
) {
  try {
    return { isDone: true, text: await work(client, await meantExecution(client, typed)) }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    const note = contextNote(address.kind === "remote" ? address.context : null)
    return { isDone: false, text: `cc-executor: ${describeError(error)}${note}` }
  }
}
