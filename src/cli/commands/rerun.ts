import type { ExecutionView } from "../../protocol/execution-view.ts"
import { option } from "../arguments.ts"
import { command } from "../command.ts"
import { reach } from "../connect/reach.ts"
import type { Context } from "../context.ts"
import { type RunValues, readRun, runOptions } from "../executions/run-request.ts"
import { ownFailure } from "../exit-code.ts"
import { runAsked } from "./run.ts"

export const rerunCommand = command({
  usage: ["rerun [OPTIONS] ID", "rerun [OPTIONS] ID -- COMMAND [ARGUMENT…]"],
  about: `\
Runs the command of another execution again, in its directory, with its labels, limits and timeouts;
options change them, and a command after -- replaces the command. Values of variables are never
recorded: like \`run\`, it gets this shell's, and those that are given with --env. The name is taken
over as well: while the other one is live, give this one another name with --name.`,
  options: { ...runOptions, cwd: option("DIR", "another working directory") },
  examples: {
    "try again": "cc-executor rerun 7kq2mfa4",
    "try again in the background, with more time": "cc-executor rerun -d --timeout 2h 7kq2mfa4",
  },
  operands: { atLeast: 1, what: "The execution id" },
  failureExitCode: ownFailure,
  async run(context, { values, operands: [id = "", ...argv] }) {
    const view = await viewOf(context, values, id)
    const before = valuesOf(view, argv.length === 0)
    const label = [...(before.label ?? []), ...(values.label ?? [])] // the last of a name counts
    const again = { ...before, ...values, label }
    const operands = argv.length > 0 || again.shell !== undefined ? argv : view.argv
    return runAsked(context, again, readRun(context, again, operands))
  },
})

async function viewOf(context: Context, values: RunValues, id: string): Promise<ExecutionView> {
  await using reached = await reach(context, values, "with-journal")
  return await reached.client.call("status", { execution_id: id })
}

/** The options by which `run` would have asked for it. */
function valuesOf(view: ExecutionView, isSameCommand: boolean): Partial<RunValues> {
  const { budget, limits } = view
  const label = Object.entries(view.labels).map(([name, value]) => `${name}=${value}`)
  return {
    cwd: view.cwd,
    label,
    "budget-bytes": String(budget.bytes),
    "budget-policy": budget.policy,
    ...(isSameCommand && view.shell && view.command !== null && { shell: view.command }),
    ...(view.terminal !== null && { terminal: true }),
    ...(view.terminal === null && view.stdin === "pipe" && { interactive: true }),
    ...(view.timeout !== null && { timeout: `${view.timeout}s` }),
    ...(view.idle_timeout !== null && { "idle-timeout": `${view.idle_timeout}s` }),
    ...(budget.lines !== null && { "budget-lines": String(budget.lines) }),
    ...(limits.memory !== null && { memory: String(limits.memory) }),
    ...(limits.cpu !== null && { cpus: String(limits.cpu) }),
    ...(limits.pids !== null && { pids: String(limits.pids) }),
    ...(limits.output !== null && { "output-limit": String(limits.output) }),
  }
}
