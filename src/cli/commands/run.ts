import type { RemoteExecution } from "../../client/remote-execution.ts"
import { command } from "../command.ts"
import { readRun, runOptions } from "../executions/run-request.ts"
import { type Send, startExecution } from "../executions/start-execution.ts"
import { ownFailure } from "../exit-code.ts"
import { follow } from "../terminal/follow.ts"
import { EarlySignals } from "../terminal/interrupts.ts"

export const runCommand = command({
  usage: ["run [OPTIONS] [--] COMMAND [ARGUMENT…]", "run [OPTIONS] --shell 'COMMAND LINE'"],
  about: `\
Runs the command, shows its output here byte for byte, and exits as it does: with its exit code,
128+N if signal N ended it, 124 after a timeout, 130 if it was canceled, 126 or 127 if it cannot
be run, 125 if cc-executor itself failed.

Ctrl-C cancels the command; a second Ctrl-C leaves it running and says how to return to it. With
-t every key goes to the command, and Ctrl-P Ctrl-Q detaches. Piped input is forwarded. On the
local service, the command gets this shell's directory and environment.`,
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
    const asked = readRun(context, values, operands)
    if (values.detach === true) {
      const { reached, started } = await startExecution(context, values, asked, startOnly)
      await using _reached = reached
      await context.stdout.write(`${started}\n`)
      return 0
    }
    using early = new EarlySignals(context)
    const starting = startExecution(context, values, asked, startAndFollow)
    const { reached, started } = await early.during(starting)
    await using _reached = reached
    early[Symbol.dispose]()
    return await follow(context, started, {
      input: asked.input,
      hasTerminal: values.terminal === true,
      mayCancel: true,
      onBrokenPipe: "cancel",
      earlier: early.taken,
    })
  },
})

const startAndFollow: Send<RemoteExecution> = (client, request) => client.execute(request)

const startOnly: Send<string> = async (client, request) => {
  const { execution_id } = await client.call("execute", request)
  return execution_id
}
