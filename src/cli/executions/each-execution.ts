import { CallError } from "../../client/client-error.ts"
import type { Client } from "../../client/connect.ts"
import type { Context } from "../context.ts"
import { describeError } from "../failure.ts"

/**
 * Does something with each of several executions, all at once, and says what came of it. A refusal
 * of one keeps nobody else from being served; the exit code tells of it.
 */
export async function eachExecution(
  context: Pick<Context, "stderr">,
  client: Client,
  ids: readonly string[],
  work: (client: Client, id: string) => Promise<string>,
): Promise<number> {
  const outcomes = await Promise.all(ids.map((id) => attempt(client, id, work)))
  for (const { text } of outcomes) await context.stderr.write(`${text}\n`)
  return outcomes.every(({ isDone }) => isDone) ? 0 : 1
}

async function attempt(
  client: Client,
  id: string,
  work: (client: Client, id: string) => Promise<string>,
): Promise<{ isDone: boolean; text: string }> {
  try {
    return { isDone: true, text: await work(client, id) }
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    return { isDone: false, text: `cc-executor: ${describeError(error)}` }
  }
}
