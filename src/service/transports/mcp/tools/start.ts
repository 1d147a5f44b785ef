import { z } from "zod"
import { type ExecutionRecord, hasEnded } from "../../../../execution/record.ts"
import type { Result } from "../../../../lib/result.ts"
import { ExecuteParams, executeResultOf, executeRules } from "../../../../protocol/execute.ts"
import type { Failure } from "../../../../protocol/failure.ts"
import type { McpScope } from "../ports.ts"
import type { Call } from "./call.ts"
import { reply, tool } from "./tool.ts"

const { shape } = ExecuteParams

/** What may be said of an execution to start: what `execute` takes, but for how output travels. */
export const StartArguments = z
  .strictObject({
    command: shape.command.describe(
      "a command line; pipes, redirections, $VARIABLES and && make it run in a shell",
    ),
    argv: shape.argv.describe(
      "program and arguments, executed directly without a shell, instead of `command`",
    ),
    shell: shape.shell.describe("always run `command` in a shell"),
    cwd: shape.cwd.describe(
      "an absolute path; default: the directory of the client, or of the service",
    ),
    env: shape.env.describe("variables to add to the environment"),
    stdin: shape.stdin.describe("`pipe` if you want to send it input with the tool `input`"),
    terminal: shape.terminal.describe(
      "run it on a terminal of this size, for programs that need one",
    ),
    timeout: shape.timeout.describe("stop it after this many seconds of running; default: never"),
    idle_timeout: shape.idle_timeout.describe(
      "stop it after this many seconds without output or input",
    ),
    budget: shape.budget.describe(
      "how much output is kept: bytes, lines, and what happens beyond that",
    ),
    limits: shape.limits.describe("memory in bytes, processors, processes, bytes of output"),
    labels: shape.labels.describe(
      "to find it by with `list`; the label `name` is usable in place of the execution_id",
    ),
    notify: shape.notify.describe("names of targets that are told when it ends"),
    idempotency_key: shape.idempotency_key.describe(
      "calls with the same key and arguments start it only once",
    ),
  })
  .check(...executeRules)
type StartArguments = z.output<typeof StartArguments>

/** Of a tool that runs whatever command it is given. */
export const runsCommands = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
}

const Started = z.object({
  execution_id: z.string().describe("pass this to wait, output, input, cancel …"),
  status: z.enum(["started", "queued"]),
  pid: z.int().nullable().describe("null while it is queued"),
  repeated: z
    .boolean()
    .describe("true if the idempotency_key found an execution that was started before"),
  ended: z.boolean().describe("true if a repeated execution has already ended"),
})

export const startTool = tool({
  name: "start",
  title: "Start a command",
  description:
    "Starts a command and returns its execution_id at once, while it continues in the " +
    "background for as long as it takes: minutes or hours, even if this connection is lost. " +
    "Use it for builds, tests, servers, agents: anything that may take more than a few seconds. " +
    "Then call `wait` until `ended` is true, and `output` to read what it wrote. " +
    "For short commands, `run` does all of that in one call.",
  input: StartArguments,
  output: Started,
  examples: {
    input: { command: "make -j8 test", cwd: "/home/me/project", timeout: 3600 },
    output: {
      execution_id: "k3tq7mzxw5yhd2vbn4c6fsaelu",
      status: "started",
      pid: 4711,
      repeated: false,
      ended: false,
    },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu is started. Now call `wait` …",
  },
  annotations: runsCommands,
  needs: () => ["execute"],
  async answer(args, scope, call) {
    const started = await startExecution(args, scope, call)
    if (!started.ok) return started
    const { record, repeated } = started.value
    const { id } = record
    const pid = record.leader?.pid ?? null
    const status = pid === null ? "queued" : "started"
    const ended = hasEnded(record)
    const again = repeated ? "was already started with the same idempotency_key" : null
    const what = `Execution ${id} ${again ?? `is ${status}`}${ended ? ", and has ended" : ""}.`
    const next = ended
      ? "Read its output with `output`."
      : "Now call `wait` with this execution_id until `ended` is true; then read its output " +
        "with `output`."
    return reply(`${what} ${next}`, { execution_id: id, status, pid, repeated, ended })
  },
})

export type StartedExecution = { record: ExecutionRecord; repeated: boolean }

/** Whoever asks for it by whichever tool: started once, judged by the same rules. */
export async function startExecution(
  args: StartArguments,
  scope: McpScope,
  call: Call,
): Promise<Result<StartedExecution, Failure>> {
  const { cwd } = call.defaults
  // Where an allow-list rules, a request may set little, and nobody asked for the client's own.
  const env = scope.operations.policy === "allow-list" ? undefined : call.defaults.env
  const params: ExecuteParams = {
    ...args,
    ...(args.cwd === undefined && cwd !== undefined ? { cwd } : {}),
    ...(env === undefined ? {} : { env: { ...env, ...args.env } }),
    idempotency_key: args.idempotency_key ?? call.idempotencyKey,
    encoding: "utf8",
    on_disconnect: "keep",
  }
  const started = await scope.operations.execute(scope.caller, params, false)
  if (!started.ok) return started
  const { record, repeated } = started.value
  const result = executeResultOf(record, repeated)
  return result.ok ? started : result
}
