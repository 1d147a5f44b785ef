import { CallError } from "../../client/client-error.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { followSession } from "../agents/follow-session.ts"
import { readInput } from "../agents/read-input.ts"
import { claudeOptions, startRequest } from "../agents/start-request.ts"
import { canView } from "../agents/view/can-view.ts"
import { NoticeOutput } from "../agents/view/notice-output.ts"
import type { Values } from "../arguments.ts"
import { command } from "../command.ts"
import { nextCommand } from "../connect/next-command.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { asSentence, CommandFailure, UsageFailure } from "../failure.ts"

export const claudeCommand = command({
  usage: [
    "claude [OPTIONS] [PROMPT…]",
    "claude [OPTIONS] < PROMPT",
    "claude [OPTIONS] --each FILE",
  ],
  about: `\
Runs Claude Code as a session that goes on without this terminal: its questions wait for an answer
from anywhere, a usage limit is waited out, a crash is recovered from. On a terminal you see what
it says and does, answer its questions with a key, and type what to do next; Ctrl-C interrupts the
turn, a second one leaves. Elsewhere it prints the result of the prompt and exits with 0 if it
succeeded. With -d it prints the id and returns; \`agent attach\` comes back to a session.

With --worktree it has a git worktree and a branch to itself; \`agent changes\` shows what came of
that, \`agent take\` and \`agent drop\` end it. With --each, every line of a file is the prompt of
such a session, some at a time; blank lines and lines that begin with # are left out. The same
command again comes back to the sessions that it has started. It exits with 0 if all succeeded.`,
  options: claudeOptions,
  examples: {
    "sit in front of a session": "cc-executor claude",
    "start a session in the background": 'id=$(cc-executor claude -d "Fix the failing tests")',
    "one question, one answer": 'cc-executor claude "What does this project do?" | cat',
    "try something, then take it or not": "cc-executor claude --worktree idea 'Make it faster'",
    "a list of things to do, two at a time": "cc-executor claude --each todo.txt -j 2",
    "go on where a session left off": "cc-executor claude --resume 7kq2mfa4 -d 'Now write tests'",
  },
  operands: { atLeast: 0, what: "The prompt" },
  async run(context, { values, operands }) {
    const { each } = values
    if (each !== undefined) return runFile(context, values, each, operands)
    const pointless =
      values.jobs !== undefined ? "--jobs" : values.again === true ? "--again" : null
    if (pointless !== null) throw new UsageFailure(`${pointless} needs --each FILE.`)
    const prompt = await promptOf(context, operands)
    const isViewed = values.detach !== true && values.json !== true && canView(context)
    if (prompt === null && values.detach !== true && !isViewed) {
      throw new UsageFailure('What is to be done? Give a prompt: cc-executor claude "…".')
    }
    const stderr = new NoticeOutput(context.stderr)
    await using reached = await reach({ ...context, stderr }, values, "always")
    const { client } = reached
    const request = startRequest(context, values, prompt, reached.address.kind === "local")
    const started = await client.call("agent.start", request).catch((error: unknown) => {
      throw request.env?.["PATH"] === undefined ? withOwnPath(context, error) : error
    })
    if (started.note !== undefined) await context.stderr.write(`${onOneLine(started.note)}\n`)
    if (values.detach === true) {
      await context.stdout.write(`${onOneLine(started.execution_id)}\n`)
      return 0
    }
    if (isViewed) {
      const { viewStarted } = await import("../agents/view/open-view.ts")
      return await viewStarted(context, stderr, client, started)
    }
    const isJson = values.json === true
    return await followSession(context, client, started.execution_id, { isJson })
  },
})

async function runFile(
  context: Context,
  values: Values<typeof claudeOptions>,
  file: string,
  words: readonly string[],
): Promise<number> {
  const { eachOptions } = await import("../agents/each/each-options.ts")
  const given = await eachOptions(context, values, file, words)
  await using reached = await reach(context, values, "always")
  const isLocal = reached.address.kind === "local"
  const { worktree: _, ...others } = values // what all names begin with
  const request = startRequest(context, others, null, isLocal)
  const { runEach } = await import("../agents/each/run-each.ts")
  return await runEach(context, reached.client, { ...given, request })
}

/** The service may have been started where the agent was not on the PATH yet. */
function withOwnPath(context: Context, error: unknown): unknown {
  if (!(error instanceof CallError)) return error
  const { reason, message, details } = error.failure
  if (reason !== "SPAWN_FAILED" || details?.["errno"] !== "ENOENT") return error
  const again = nextCommand(context, "claude", "-e PATH …")
  return new CommandFailure(`${asSentence(onOneLine(message))} To use this shell's PATH: ${again}`)
}

/** The words that were given, or else what is piped in; null for neither. */
async function promptOf(context: Context, words: readonly string[]): Promise<string | null> {
  if (words.length > 0) return words.join(" ")
  if (context.stdin.kind !== "stream") return null
  const text = (await readInput(context)).trim()
  return text === "" ? null : text
}
