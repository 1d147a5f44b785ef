import type { RemoteExecution } from "../../client/remote-execution.ts"
import { onOneLine } from "../../lib/harmless-text.ts"
import { command } from "../command.ts"
import type { Context } from "../context.ts"
import { passInput } from "../executions/pass-input.ts"
import { type AskedRun, type RunValues, readRun, runOptions } from "../executions/run-request.ts"
import { type Send, startExecution } from "../executions/start-execution.ts"
import { ownFailure } from "../exit-code.ts"
import { detachSequence } from "../terminal/detach-keys.ts"
import { follow } from "../terminal/follow.ts"
import { EarlySignals } from "../terminal/interrupts.ts"
import { whoAnswers } from "../terminal/who-answers.ts"

export const runCommand = command({
  usage: ["run [OPTIONS] [--] COMMAND [ARGUMENT…]", "run [OPTIONS] --shell 'COMMAND LINE'"],
  about: `\
Runs the command, shows its output here byte for byte, and exits as it does: with its exit code,
128+N if signal N ended it, 124 after a timeout, 130 if it was canceled, 126 or 127 if it cannot
be run, 125 if cc-executor itself failed.

Ctrl-C cancels the command and waits for its end; a second Ctrl-C does not wait. If this program is
told to end (SIGTERM) or loses its terminal, the command goes on; with --cancel-on-disconnect it is
canceled ten seconds later. With -t every key goes to the command, Ctrl-C too, and Ctrl-] Ctrl-]
detaches (--detach-keys). Piped input is forwarded; with -d it returns when that has come to its end
or the command has ended, and Ctrl-C stops forwarding and leaves the command running. On the local
service, the command gets this shell's directory and environment.`,
  options: runOptions,
  examples: {
    "run make, show its output, and exit with its exit code": "cc-executor run -- make -j8 test",
    "start in the background and keep the id":
      "id=$(cc-executor run -d --timeout 2h -- ./nightly.sh)",
    "run on a terminal": "cc-executor run -t -- htop",
    "run a command line in the service's shell":
      "cc-executor run --shell 'sort big.txt | uniq -c > counts.txt'",
  },
  operands: { atLeast: 0, what: "The command" },
  passThrough: true,
  failureExitCode: ownFailure,
  async run(context, { values, operands }) {
    return runAsked(context, values, readRun(context, values, operands))
  },
})

/** Starts it, and follows it to its end unless that is not wanted. */
export async function runAsked(
  context: Context,
  values: RunValues,
  asked: AskedRun,
): Promise<number> {
  const detachKeys = detachSequence(values["detach-keys"])
  if (values.detach === true) {
    const { reached, started } = await startExecution(context, values, asked, startOnly)
    await using _closing = reached
    await context.stdout.write(`${started}\n`)
    if (asked.input === "stream") {
      return await passInput(context, reached.client, started, values.interactive === true)
    }
    return 0
  }
  using early = new EarlySignals(context)
  const starting = startExecution(context, values, asked, startAndFollow)
  const { reached, started } = await early.during(starting)
  await using _reached = reached
  early[Symbol.dispose]()
  // Somebody else may make it smaller: then what it shows is drawn here.
  if (values.terminal === true && context.stdout.isTty) started.tellSizes()
  return await follow(context, started, {
    input: asked.input,
    terminal: values.terminal === true ? "steered" : "none",
    queries: await whoAnswers(reached.client),
    linesAbove: 0,
    detachKeys,
    mayCancel: true,
    onBrokenPipe: "cancel",
    earlier: early.taken,
  })
}

const startAndFollow: Send<RemoteExecution> = (client, request) => client.execute(request)

const startOnly: Send<string> = async (client, request) => {
  const { execution_id } = await client.call("execute", request)
  return onOneLine(execution_id)
}
