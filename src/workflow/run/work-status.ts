import type { TrialVerdict } from "../../execution/trial/announcement.ts"
import { taskState } from "../ledger/task-state.ts"
import { wilsonInterval } from "../ledger/wilson.ts"
import type { WorkState } from "./files/work-state.ts"
import { whyOpen } from "./run-tasks.ts"
import { verdictOn } from "./verify-work.ts"

/** How far a work is, as programs are told. */
export type WorkStatus = {
  path: string
  name: string
  kind: "prompt" | "tasks"
  ledger: string
  success: number
  failure: number
  warned: number
  broken: number
  lost: number
  ratio: string
  interval_95: { low: number; high: number }
  trials: number
  last_trial: string | null
  cost_usd: number | null
  cost_per_success_usd: number | null
  open: { sequence: number; item: string | null }[]
  /** Trials that were not PASSED, the latest first, and only a few of them. */
  last_failures: FailedTrial[]
  /** Of a task list. */
  tasks?: TaskStatus[]
  /** What keeps the file from being what its ledger shows, in words. */
  problems: string[]
}

export type FailedTrial = {
  trial: number
  task: string | null
  verdict: TrialVerdict
  reasons: string[]
}

export type TaskStatus = {
  id: string
  title: string
  state: ReturnType<typeof taskState>["kind"]
  why: string
  checks: string[]
  trial: number | null
  verdict: TrialVerdict | null
  reasons: string[]
}

export function workStatus(state: WorkState): WorkStatus {
  const { path, name, work, ledgerPath, summary } = state
  const { life } = summary
  const { damages, differences, unattested } = verdictOn(state)
  return {
    path,
    name,
    kind: work.kind,
    ledger: ledgerPath,
    ...life,
    ratio: `${life.success}:${life.failure}`,
    interval_95: wilsonInterval(life.success, life.failure),
    trials: summary.trials.length,
    last_trial: summary.lastAt,
    cost_usd: summary.costUsd,
    cost_per_success_usd: summary.costPerSuccessUsd,
    open: summary.open.map(({ sequence, item }) => ({ sequence, item })),
    last_failures: lastFailures(state),
    ...(work.kind === "tasks" ? { tasks: tasksOf(state) } : {}),
    problems: [
      ...damages.map((damage) => `the ledger: ${damage}`),
      ...differences.map(
        ({ line, stands, shouldBe }) => `line ${line} says "${stands}", not "${shouldBe}"`,
      ),
      ...unattested.map(({ id }) => `${id} is ticked, but nothing attests that`),
    ],
  }
}

const mostFailures = 3

function lastFailures({ summary }: WorkState): FailedTrial[] {
  const failed = summary.trials.filter(({ verdict }) => verdict !== "PASSED")
  const latest = failed.slice(-mostFailures).toReversed()
  return latest.map(({ announcement: { sequence, work }, verdict, reasons }) => {
    return { trial: sequence, task: work.item ?? null, verdict, reasons: [...reasons] }
  })
}

function tasksOf({ work, summary }: WorkState): TaskStatus[] {
  if (work.kind !== "tasks") return []
  return work.tasks.map((task): TaskStatus => {
    const state = taskState(task, summary)
    const trial = "trial" in state ? state.trial : null
    return {
      id: task.id,
      title: task.title,
      state: state.kind,
      why: whyOpen(task, state),
      checks: task.checks.map(({ run }) => run),
      trial: trial?.announcement.sequence ?? null,
      verdict: trial?.verdict ?? null,
      reasons: trial?.reasons ?? [],
    }
  })
}
