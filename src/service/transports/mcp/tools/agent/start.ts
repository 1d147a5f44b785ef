import { z } from "zod"
import { AgentStartParams } from "../../../../../protocol/agent.ts"
import { runsCommands } from "../start.ts"
import { reply, tool } from "../tool.ts"
import { exampleSession } from "./session-view.ts"

const { shape } = AgentStartParams

const Arguments = z
  .strictObject({
    prompt: shape.prompt.describe("the task, in words; without it, the session waits for a turn"),
    cwd: shape.cwd.describe(
      "the directory to work in, an absolute path; default: that of the client, or of the service",
    ),
    model: shape.model.describe("as Claude Code knows it; default: its own"),
    permission_mode: shape.permission_mode.describe(
      "what it may do without asking: `acceptEdits` edits files, `plan` changes nothing",
    ),
    resume: shape.resume.describe("go on with a session: its session_id, or an execution_id"),
    fork: shape.fork.describe("with `resume`: in a copy, the session stays as it is"),
    take_over: shape.take_over,
    max_turns: shape.max_turns.describe("end it after so many answers of the model"),
    max_cost_usd: shape.max_cost_usd.describe("end it when it has cost this much"),
    max_tokens: shape.max_tokens,
    on_limit: shape.on_limit.describe("at a usage limit: wait until it is over, or stop"),
    env: shape.env.describe("variables to add to the environment"),
    args: shape.args.describe("further arguments of Claude Code, such as --allowedTools"),
    timeout: shape.timeout.describe("stop it after this many seconds of running; default: never"),
    labels: shape.labels.describe(
      "to find it by with `list`; the label `name` is usable in place of the execution_id",
    ),
    notify: shape.notify.describe("names of targets that are told of its questions and its end"),
    idempotency_key: shape.idempotency_key.describe(
      "calls with the same key and arguments start it only once",
    ),
  })
  .check(
    z.refine((args) => args.resume !== undefined || (!args.fork && !args.take_over), {
      message: "`fork` and `take_over` need `resume`",
      path: ["resume"],
    }),
  )

export const agentStartTool = tool({
  name: "agent_start",
  title: "Start an agent's session",
  description:
    "Hands a task to another AI agent (Claude Code) in a session of its own, and returns its " +
    "execution_id at once. The agent works by itself for minutes or hours, asks before it does " +
    "what it may not do yet, and takes further turns. Use it to delegate work that needs " +
    "judgement; to run a program or a command line, use `start` or `run`. Then call " +
    "`agent_wait`, which tells its questions and its result.",
  input: Arguments,
  output: z.object({
    execution_id: z.string().describe("pass this to agent_wait, agent_send, agent_answer …"),
    session_id: z.string().describe("the agent's own name of the session"),
    turn_id: z.string().nullable().describe("of the prompt"),
    repeated: z.boolean().describe("true if the idempotency_key found an earlier session"),
  }),
  examples: {
    input: { prompt: "Find out why the tests fail, and fix it.", cwd: "/home/me/project" },
    output: {
      execution_id: exampleSession.execution_id,
      session_id: exampleSession.session_id ?? "",
      turn_id: exampleSession.execution_id,
      repeated: false,
    },
    note: "Session m4xw7ezhy3gqk2vbn4c6fsaelu is started. Now call `agent_wait` …",
  },
  annotations: runsCommands,
  needs: ({ take_over }) => (take_over ? ["execute", "control"] : ["execute"]),
  async answer(args, { operations, caller }, call) {
    const started = await operations.agents.start(caller, {
      ...args,
      agent: "claude",
      restart: "resume",
      cwd: args.cwd ?? call.defaults.cwd,
      idempotency_key: args.idempotency_key ?? call.idempotencyKey,
    })
    if (!started.ok) return started
    const { execution_id, session_id, turn_id = null, repeated = false, note } = started.value
    const what = repeated ? "was already started with the same idempotency_key" : "is started"
    const next =
      turn_id === null
        ? "Give it a turn with `agent_send`."
        : "Now call `agent_wait` with this execution_id until its state is not `working`."
    const more = note === undefined ? "" : ` ${note}`
    const text = `Session ${execution_id} ${what}. ${next}${more}`
    return reply(text, { execution_id, session_id, turn_id, repeated })
  },
})
