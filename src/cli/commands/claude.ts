import { onOneLine } from "../../lib/harmless-text.ts"
import { followSession } from "../agents/follow-session.ts"
import { readInput } from "../agents/read-input.ts"
import { claudeOptions, startRequest } from "../agents/start-request.ts"
import { command } from "../command.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { UsageFailure } from "../failure.ts"

export const claudeCommand = command({
  usage: ["claude [OPTIONS] [PROMPT…]", "claude [OPTIONS] < PROMPT"],
  about: `\
Runs Claude Code as a session that goes on without this terminal: its questions wait for an answer
from anywhere, a usage limit is waited out, a crash is recovered from. Prints the result of the
prompt and exits with 0 if it succeeded; with -d prints the id and returns at once. \`agent\` and
\`inbox\` steer a session. Ctrl-C leaves the session running and says how to come back.`,
  options: claudeOptions,
  examples: {
    "start a session in the background": 'id=$(cc-executor claude -d "Fix the failing tests")',
    "one question, one answer": 'cc-executor claude "What does this project do?"',
    "go on where a session left off": "cc-executor claude --resume 7kq2mfa4 -d 'Now write tests'",
  },
  operands: { atLeast: 0, what: "The prompt" },
  async run(context, { values, operands }) {
    const prompt = await promptOf(context, operands)
    if (prompt === null && values.detach !== true) {
      throw new UsageFailure('What is to be done? Give a prompt: cc-executor claude "…".')
    }
    await using reached = await reach(context, values, "always")
    const { client } = reached
    const request = startRequest(context, values, prompt, reached.address.kind === "local")
    const started = await client.call("agent.start", request)
    if (started.note !== undefined) await context.stderr.write(`${onOneLine(started.note)}\n`)
    if (values.detach === true) {
      await context.stdout.write(`${onOneLine(started.execution_id)}\n`)
      return 0
    }
    const isJson = values.json === true
    return await followSession(context, client, started.execution_id, { isJson })
  },
})

/** The words that were given, or else what is piped in; null for neither. */
async function promptOf(context: Context, words: readonly string[]): Promise<string | null> {
  if (words.length > 0) return words.join(" ")
  if (context.stdin.kind !== "stream") return null
  const text = (await readInput(context)).trim()
  return text === "" ? null : text
}
