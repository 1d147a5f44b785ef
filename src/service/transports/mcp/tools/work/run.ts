import { z } from "zod"
import type { ExecutionRecord } from "../../../../../execution/record.ts"
import { fail, ok, type Result } from "../../../../../lib/result.ts"
import { PermissionMode } from "../../../../../protocol/agent.ts"
import { type Failure, failure } from "../../../../../protocol/failure.ts"
import { exampleExecution } from "../../execution-summary.ts"
import type { McpScope } from "../../ports.ts"
import type { Call } from "../call.ts"
import { runsCommands, StartArguments } from "../start.ts"
import { reply, tool } from "../tool.ts"
import { absolutePath, lookAtWork, startOwn, workPath } from "./look-at-work.ts"
import { cut, isOpen, mostTasks, type ToldStatus, type ToldTask, WorkKind } from "./work-view.ts"

const { labels, idempotency_key } = StartArguments.shape

const Arguments = z.strictObject({
  path: workPath,
  task: z.string().min(1).max(256).optional().describe("of a list: only this task, such as T03"),
  count: z.int().min(1).max(1000).optional().describe("of a prompt: how many trials; default: 1"),
  jobs: z.int().min(1).max(64).optional().describe("of a prompt: how many trials at a time"),
  keep_going: z
    .boolean()
    .default(false)
    .describe("of a list: go on with the next task after one that has failed"),
  max_cost_usd: z
    .number()
    .positive()
    .optional()
    .describe("start no further trial when they have cost this much"),
  model: z.string().min(1).max(256).optional().describe("which model an agent uses"),
  permission_mode: PermissionMode.optional().describe("what an agent may do without asking"),
  timeout: z.number().positive().optional().describe("stop an act after this many seconds"),
  labels: labels.describe("to find it by with `list`"),
  idempotency_key,
})
type Arguments = z.output<typeof Arguments>

const Planned = z.object({ id: z.string(), title: z.string(), checks: z.array(z.string()) })

export const workRunTool = tool({
  name: "work_run",
  title: "Work through a task list or a prompt",
  description:
    "Has the open tasks of a Markdown task list done by an agent, or a prompt file tried, and " +
    "returns the runner's execution_id at once. Each task has a check: it must fail first, then " +
    "the agent acts, then it must pass. Only that ticks a box or counts as a success, so never " +
    "edit boxes or counts yourself. Use it when the user wants the tasks of a file worked off, " +
    "or a prompt tried; for a task that stands in no file, use `agent_start`. Then call `wait` " +
    "until `ended` is true, and `work_status`.",
  input: Arguments,
  output: z.object({
    execution_id: z.string().nullable().describe("of the runner; null: there is nothing to do"),
    path: z.string(),
    kind: WorkKind,
    tasks: z.array(Planned).describe("what it will do, in this order; empty for a prompt"),
    omitted_tasks: z.int().describe("that it will do, and are not shown"),
    without_check: z.array(z.string()).describe("open tasks that it cannot do: for a person"),
    trials: z.int().nullable().describe("of a prompt, how many"),
    repeated: z.boolean().describe("true if the idempotency_key found an earlier run"),
  }),
  examples: {
    input: { path: "/home/me/project/TASKS.md" },
    output: {
      execution_id: exampleExecution.execution_id,
      path: "/home/me/project/TASKS.md",
      kind: "tasks",
      tasks: [{ id: "T02", title: "Count them", checks: ["test -s COUNT"] }],
      omitted_tasks: 0,
      without_check: [],
      trials: null,
      repeated: false,
    },
    note: "Execution k3tq7mzxw5yhd2vbn4c6fsaelu works on T02. Now call `wait` …",
  },
  annotations: runsCommands,
  needs: () => ["execute", "read", "attest"],
  async answer(args, scope, call) {
    const path = absolutePath(args.path, call)
    if (!path.ok) return path
    const key = args.idempotency_key ?? call.idempotencyKey
    const status = await statusFor(scope, call, path.value, key)
    if (!status.ok) return status
    const plan = planFor(args, status.value)
    if (!plan.ok) return plan
    const { kind } = status.value
    const planned = { path: path.value, kind, ...plan.value, repeated: false }
    const { tasks, without_check: unchecked } = planned
    const left = unchecked.length === 0 ? "" : ` Without a check: ${unchecked.join(", ")}.`
    if ((kind === "tasks" || kind === "fixes") && tasks.length === 0) {
      const instead = forPerson(left, kind)
      const nothing = `Nothing was started: no task with a check is open.${left}${instead}`
      return reply(nothing, { execution_id: null, ...planned })
    }
    const words = wordsFor(args, kind)
    const started = await startOwn(scope, call, {
      path: path.value,
      words,
      labels: args.labels,
      key,
    })
    if (!started.ok) return started
    const { record, repeated } = started.value
    const text = `${startedText(record, kind, planned)}${left}`
    return reply(text, { ...planned, execution_id: record.id, repeated }, tasksText(tasks))
  },
})

/** How long a look at a file may take: it is a program that starts, reads and ends. */
const lookMs = 30_000

/** How the work stands, for one who may have it run. */
async function statusFor(
  scope: McpScope,
  call: Call,
  path: string,
  key: string | undefined,
): Promise<Result<ToldStatus, Failure>> {
  const lookKey = key === undefined ? undefined : `${key.slice(0, 250)}.look`
  const looked = await lookAtWork(scope, call, path, lookMs, { key: lookKey })
  if (!looked.ok) return looked
  const { record, told } = looked.value
  if (record.withinTrial !== undefined) {
    const message =
      `You are part of trial ${record.withinTrial}, or nobody can tell that you are not: what a ` +
      "trial starts has not the scope `attest`, and must not run works. Its checks decide."
    return fail(failure("FORBIDDEN", message, { scope: "attest", trial: record.withinTrial }))
  }
  return told === null ? notYet(record, path) : ok(told.status)
}

export function notYet({ id }: ExecutionRecord, path: string): Result<never, Failure> {
  const message = `${path} is still being looked at, by execution ${id}.`
  return fail(failure("WRONG_STATE", message, { execution_id: id }))
}

type Plan = {
  tasks: z.infer<typeof Planned>[]
  omitted_tasks: number
  without_check: string[]
  trials: number | null
}

function planFor(args: Arguments, status: ToldStatus): Result<Plan, Failure> {
  const { task, count, jobs, keep_going: keepGoing, path } = args
  const isPrompt = status.kind === "prompt"
  if (status.kind === "review" && (task !== undefined || keepGoing)) {
    return wrong(`${path} asks for a review: it has no tasks.`)
  }
  if (isPrompt) {
    if (task !== undefined || keepGoing) return wrong(`${path} is a prompt: it has no tasks.`)
    return ok({ tasks: [], omitted_tasks: 0, without_check: [], trials: count ?? 1 })
  }
  if (count !== undefined || jobs !== undefined) {
    return wrong(`${path} is no prompt: \`count\` and \`jobs\` are for prompts.`)
  }
  const all = status.tasks ?? []
  const wanted = all.filter((one) => (task === undefined ? isOpen(one) : one.id === task))
  if (task !== undefined && wanted.length === 0) {
    const ids = all.slice(0, mostTasks).map(({ id }) => id)
    return wrong(`${path} has no task ${task}: it has ${ids.join(", ")}.`)
  }
  const hasCheck = ({ checks }: ToldTask) => checks.length > 0
  const toDo = wanted.filter(hasCheck)
  const tasks = toDo.slice(0, mostTasks).map(({ id, title, checks }) => {
    return { id, title: cut(title), checks: checks.map(cut) }
  })
  const unchecked = wanted.filter((one) => !hasCheck(one)).map(({ id }) => id)
  return ok({
    tasks,
    omitted_tasks: toDo.length - tasks.length,
    without_check: unchecked.slice(0, mostTasks),
    trials: null,
  })
}

function wrong(message: string): Result<never, Failure> {
  return fail(failure("INVALID_PARAMS", message))
}

function wordsFor(args: Arguments, kind: ToldStatus["kind"]): string[] {
  const isFixes = kind === "fixes"
  const options = {
    [isFixes ? "fix" : "task"]: args.task,
    "keep-going": args.keep_going && kind === "tasks",
    trials: args.count,
    jobs: args.jobs,
    "max-cost": args.max_cost_usd?.toFixed(4),
    model: args.model,
    "permission-mode": args.permission_mode,
    timeout: args.timeout === undefined ? undefined : `${Math.ceil(args.timeout)}s`,
  }
  const given = Object.entries(options).flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    return value === true ? [`--${name}`] : [`--${name}=${value}`]
  })
  const words = { prompt: ["prompt", "run"], tasks: ["tasks", "run"] }
  const ofReviews = { fixes: ["review", "fix"], review: ["review", "run"] }
  return [...{ ...words, ...ofReviews }[kind], ...given]
}

function forPerson(left: string, kind: ToldStatus["kind"]): string {
  if (left === "") return ""
  return kind === "fixes"
    ? " A person can give them a command: `cc-executor review verification`."
    : " A person can accept them: `cc-executor tasks accept`."
}

function startedText(
  { id }: ExecutionRecord,
  kind: ToldStatus["kind"],
  { tasks, trials, path }: { tasks: { id: string }[]; trials: number | null; path: string },
): string {
  const ofPrompt = kind === "prompt" ? `${trials} trials of ${path}` : path
  const what = tasks.length > 0 ? tasks.map((task) => task.id).join(", ") : ofPrompt
  return (
    `Execution ${id} works on ${what}. Now call \`wait\` with this execution_id until \`ended\` ` +
    "is true, then `work_status`; meanwhile, `output` shows each verdict, and `cancel` ends it."
  )
}

function tasksText(tasks: Plan["tasks"]): string {
  return tasks.map(({ id, title, checks }) => `${id} ${title}: ${checks.join("; ")}`).join("\n")
}
