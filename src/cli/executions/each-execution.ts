import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import { type Command, type CommandHelp, command } from "../command.ts"
import { addressOptions } from "../connect/address.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { describeError } from "../failure.ts"
import { spin } from "../terminal/spinner.ts"

/** Answers what to say. */
type Work = (client: Client, id: string) => Promise<string>

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
      return await eachExecution(context, reached.client, operands, work)
    },
  })
}

/** All at once. A refusal of one keeps nobody else from being served; the exit code tells of it. */
export async function eachExecution(
  context: Pick<Context, "stderr">,
  client: Client,
  ids: readonly string[],
  work: Work,
): Promise<number> {
  const outcomes = await Promise.all(ids.map((id) => attempt(client, id, work)))
  for (const { text } of outcomes) await context.stderr.write(`${text}\n`)
  return outcomes.every(({ isDone }) => isDone) ? 0 : 1
}

async function attempt(client: Client, id: string, work: Work) {
  try {
    return { isDone: true, text: await work(client, id) }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    return { isDone: false, text: `cc-executor: ${describeError(error)}` }
  }
}
