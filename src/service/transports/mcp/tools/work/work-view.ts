import { z } from "zod"

/** What our own program says of a work with `--json`, as far as it is passed on. */

const Verdict = z.enum(["PASSED", "FAILED", "LOST", "WARNED", "BROKEN"])

export const WorkKind = z.enum(["prompt", "tasks", "fixes", "review"])

const TaskState = z.enum([
  "verified",
  "failed",
  "warned",
  "under-way",
  "outdated",
  "unattested",
  "accepted",
  "open",
])

const ToldTask = z.object({
  id: z.string(),
  title: z.string(),
  state: TaskState,
  why: z.string(),
  checks: z.array(z.string()),
  trial: z.int().nullable(),
})

const ToldStatus = z.object({
  path: z.string(),
  name: z.string(),
  kind: WorkKind,
  success: z.int(),
  failure: z.int(),
  warned: z.int(),
  broken: z.int(),
  ratio: z.string(),
  interval_95: z.object({ low: z.number(), high: z.number() }),
  trials: z.int(),
  last_trial: z.string().nullable(),
  cost_usd: z.number().nullable(),
  cost_per_success_usd: z.number().nullable(),
  open: z.array(z.object({ sequence: z.int(), item: z.string().nullable() })),
  last_failures: z.array(
    z.object({
      trial: z.int(),
      task: z.string().nullable(),
      verdict: Verdict,
      reasons: z.array(z.string()),
    }),
  ),
  tasks: z.array(ToldTask).optional(),
  problems: z.array(z.string()),
})
export type ToldStatus = z.infer<typeof ToldStatus>
export type ToldTask = z.infer<typeof ToldTask>

/** What `verify --json FILE` prints. */
export const ToldVerdict = z.object({
  verified: z.boolean(),
  damages: z.array(z.string()),
  differences: z.array(z.object({ line: z.int(), stands: z.string(), shouldBe: z.string() })),
  unattested: z.array(z.object({ id: z.string(), line: z.int() })),
  notices: z.array(z.string()),
  broken: z.array(z.object({ task: z.string().nullable(), reasons: z.array(z.string()) })),
  status: ToldStatus,
})
export type ToldVerdict = z.infer<typeof ToldVerdict>

const { shape } = ToldStatus
const { shape: ofTask } = ToldTask

/** A work as a model needs to know it. */
export const WorkView = z.object({
  path: shape.path,
  name: shape.name,
  kind: shape.kind.describe(
    "a prompt that is tried, a list of tasks, the fixes of a review (told as tasks), or a " +
      "request for a review",
  ),
  success: shape.success.describe("trials in which the checks failed first, and passed after"),
  failure: shape.failure.describe("trials that failed, or came to no end"),
  not_proven: shape.warned.describe("trials whose check was never seen to fail: not counted"),
  broken: shape.broken.describe("trials whose check could not run: not counted"),
  ratio: shape.ratio.describe("success:failure"),
  interval_95: shape.interval_95.describe("of the success rate: few trials prove little"),
  trials: shape.trials,
  last_trial: shape.last_trial.describe("when it was judged"),
  cost_usd: shape.cost_usd,
  cost_per_success_usd: shape.cost_per_success_usd,
  tasks_verified: z.int().nullable().describe("null for a prompt"),
  tasks_accepted: z
    .int()
    .nullable()
    .describe("the file says that a person has accepted them, and nothing attests that"),
  tasks_open: z.int().nullable(),
  tasks: z
    .array(
      z.object({
        id: ofTask.id,
        title: ofTask.title,
        state: ofTask.state.describe(
          "`verified`: seen to fail, then to pass; `unattested`: ticked by hand, which counts " +
            "for nothing",
        ),
        why: z.string().describe("why it is open"),
        checks: ofTask.checks.describe("what must pass; a task without one is for a person"),
        trial: ofTask.trial,
      }),
    )
    .describe("of a task list, in its order; open ones first where they do not all fit"),
  omitted_tasks: z.int().describe("tasks that are not shown"),
  under_way: z.array(z.object({ trial: z.int(), task: z.string().nullable() })),
  last_failures: shape.last_failures.describe("not PASSED, the latest first"),
  problems: shape.problems.describe(
    "where the file is not what its signed ledger shows, such as a count or tick by hand",
  ),
})
export type WorkView = z.infer<typeof WorkView>

export const mostTasks = 100
/** Of what is wrong: whoever has more than this to put right begins with these. */
export const mostListed = 20
const mostCharacters = 500

export function viewOfWork(told: ToldStatus): WorkView {
  const { warned, open, tasks, problems, last_failures: failures, ...rest } = told
  const all = tasks ?? []
  const isList = tasks !== undefined
  const isAll = all.length <= mostTasks
  const openFirst = [...all.filter(isOpen), ...all.filter((task) => !isOpen(task))]
  const shown = isAll ? all : openFirst.slice(0, mostTasks)
  const count = (isSo: (task: ToldTask) => boolean) => (isList ? all.filter(isSo).length : null)
  return {
    ...rest,
    not_proven: warned,
    tasks_verified: count(({ state }) => state === "verified"),
    tasks_accepted: count(({ state }) => state === "accepted"),
    tasks_open: count(isOpen),
    tasks: shown.map(({ id, title, state, why, checks, trial }) => {
      return { id, title: cut(title), state, why: cut(why), checks: checks.map(cut), trial }
    }),
    omitted_tasks: all.length - shown.length,
    under_way: open.map(({ sequence, item }) => ({ trial: sequence, task: item })),
    last_failures: failures.map((one) => ({ ...one, reasons: one.reasons.map(cut) })),
    problems: problems.slice(0, mostListed).map(cut),
  }
}

/** What a run would do, if it has a check. */
export function isOpen({ state }: Pick<ToldTask, "state">): boolean {
  return state !== "verified" && state !== "accepted"
}

export function cut(text: string): string {
  return text.length <= mostCharacters ? text : `${text.slice(0, mostCharacters)}…`
}

/** `10:1, 95 % interval of success 62 %–98 %`. */
export function countsText({ ratio, interval_95: { low, high } }: WorkView): string {
  const percent = (share: number) => `${Math.round(share * 100)} %`
  return `${ratio}, 95 % interval of success ${percent(low)}–${percent(high)}`
}

/** The same for whoever reads only text. */
export function workText(view: WorkView): string {
  const lines = view.tasks.map(({ id, title, state, why, checks }) => {
    const check = checks.length === 0 ? "no check" : checks.join("; ")
    return `${id} ${title} [${state}] ${isOpen({ state }) ? `${why}; ${check}` : check}`
  })
  const more = view.omitted_tasks === 0 ? [] : [`… and ${view.omitted_tasks} more`]
  const under = view.under_way.map(({ trial, task }) => `under way: ${named(trial, task)}`)
  const failures = view.last_failures.map(({ trial, task, verdict, reasons }) => {
    return `${named(trial, task)} ${verdict}: ${reasons.join("; ")}`
  })
  const problems = view.problems.map((problem) => `not right: ${problem}`)
  return [...lines, ...more, ...under, ...failures, ...problems].join("\n")
}

function named(trial: number, task: string | null): string {
  return task === null ? `trial ${trial}` : `trial ${trial} of ${task}`
}

export const exampleWork: WorkView = {
  path: "/home/me/project/TASKS.md",
  name: "TASKS",
  kind: "tasks",
  success: 1,
  failure: 0,
  not_proven: 0,
  broken: 0,
  ratio: "1:0",
  interval_95: { low: 0.21, high: 1 },
  trials: 1,
  last_trial: "2026-11-19T08:00:00.000Z",
  cost_usd: null,
  cost_per_success_usd: null,
  tasks_verified: 1,
  tasks_accepted: 0,
  tasks_open: 1,
  tasks: [
    {
      id: "T02",
      title: "Count them",
      state: "open",
      why: "is open",
      checks: ["test -s COUNT"],
      trial: null,
    },
  ],
  omitted_tasks: 0,
  under_way: [],
  last_failures: [],
  problems: [],
}
