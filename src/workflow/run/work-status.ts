import type { TrialVerdict } from "../../execution/trial/announcement.ts"
import type { Severity } from "../documents/review/fix-form.ts"
import type { FixList } from "../documents/review/fix-list.ts"
import { type FixStatus, fixState, isClosed } from "../ledger/fix-state.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import { taskState } from "../ledger/task-state.ts"
import { wilsonInterval } from "../ledger/wilson.ts"
import type { WorkState } from "./files/work-state.ts"
import { whyFixIsOpen } from "./review/why-open.ts"
import { whyOpen } from "./run-tasks.ts"
import { verdictOn } from "./verify-work.ts"

/** How far a work is, as programs are told. */
export type WorkStatus = {
  path: string
  name: string
  kind: WorkState["work"]["kind"]
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
  /** Of a task list, or of a list of fixes. */
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
  /** Of a fix. */
  severity?: Severity
  status?: FixStatus | null
  verification?: string | null
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
    ...(work.kind === "fixes" ? { tasks: fixesOf(work, summary) } : {}),
    problems: [
      ...damages.map((damage) => `the ledger: ${damage}`),
      ...differences.map(
        ({ line, stands, shouldBe }) => `line ${line} says "${stands}", not "${shouldBe}"`,
      ),
      ...unattested.map(({ id, says }) => `${id} ${says}`),
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

/** Told as tasks are: whoever knows the one can read the other. */
function fixesOf({ fixes }: FixList, summary: LedgerSummary): TaskStatus[] {
  return fixes.map((fix): TaskStatus => {
    const state = fixState(fix, summary)
    const trial = "trial" in state ? state.trial : null
    return {
      id: fix.id,
      title: fix.issue,
      severity: fix.severity,
      status: state.kind === "decided" ? state.status : null,
      verification: fix.verification,
      state: state.kind === "decided" ? (isClosed(state) ? "verified" : "failed") : state.kind,
      why: whyFixIsOpen(fix, state),
      checks: fix.check === null ? [] : [fix.check.run],
      trial: trial?.announcement.sequence ?? null,
      verdict: trial?.verdict ?? null,
      reasons: trial?.reasons ?? [],
    }
  })
}
