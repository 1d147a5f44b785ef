import type { StepOutline, TrialOutline } from "../../execution/trial/attestation.ts"
import type { BoxMark, Task } from "../documents/task.ts"
import { acceptanceText, claimWords } from "../documents/task-body.ts"
import { damageText } from "../ledger/damage.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
import { type TaskState, taskState } from "../ledger/task-state.ts"
import { codeSpan, inline } from "./inline.ts"

/** What a task's box and the line below it have to say; null for no line. */
export type TaskRendering = { mark: BoxMark; says: string | null }

export function taskRendering(task: Task, summary: LedgerSummary): TaskRendering {
  const [damage] = summary.damages
  const state = taskState(task, summary)
  if (damage !== undefined && state.kind !== "accepted" && (task.isClaimed || task.verified[0])) {
    const says = `◔ nothing counts while the ledger is damaged: ${inline(damageText(damage))}`
    return { mark: "under-way", says }
  }
  return renderingOf(task, state)
}

function renderingOf(task: Task, state: TaskState): TaskRendering {
  switch (state.kind) {
    case "verified":
      return { mark: "done", says: `✅ ${verifiedText(state.trial)}` }
    case "failed":
      return { mark: "open", says: `☐ ${trialText(state.trial)}` }
    case "warned":
      return { mark: "under-way", says: `◔ ${trialText(state.trial)}` }
    case "under-way":
      return { mark: "under-way", says: `◔ trial ${state.sequence} is under way` }
    case "outdated":
      return { mark: "open", says: `☐ ${outdatedText(task, state.trial)}` }
    case "unattested":
      return { mark: "open", says: `${claimWords}: it was ticked by hand` }
    case "accepted":
      return { mark: "open", says: task.accepted === null ? null : acceptanceText(task.accepted) }
    case "open":
      return { mark: "open", says: null }
  }
}

function verifiedText(trial: TrialOutline): string {
  return `${nameOf(trial)}, ${trial.steps.flatMap((step) => greenText(trial, step)).join("; ")}`
}

/** `red k3tq… exit 1 → green p5xw… exit 0, ` and the check. */
function greenText({ steps }: TrialOutline, green: StepOutline): string[] {
  if (green.role !== "green" || green.run === undefined) return []
  const red = steps.find(
    ({ role, run, finding }) => role === "red" && run === green.run && finding === "right",
  )
  const seen = red === undefined ? "" : `${stepText(red)} → `
  return [`${seen}${stepText(green)}, ${codeSpan(green.run)}`]
}

function stepText({ role, execution_id, exit }: StepOutline): string {
  return `${role} ${(execution_id ?? "").slice(0, 4)}… exit ${exit ?? "unknown"}`
}

/** Failed, warned, broken or lost, with the reason and the checks. */
function trialText(trial: TrialOutline): string {
  const reason = inline(trial.reasons[0] ?? "")
  const checks = checksIn(trial).map(codeSpan).join(", ")
  return `${nameOf(trial)} ${whatBecame[trial.verdict]}: ${reason}${checks && `, ${checks}`}`
}

const whatBecame = {
  PASSED: "passed",
  FAILED: "failed",
  LOST: "was lost",
  WARNED: "proves nothing",
  BROKEN: "is broken",
} as const

function outdatedText({ checks }: Task, trial: TrialOutline): string {
  const ran = checksIn(trial)
  const isSame = ran.length === checks.length && checks.every(({ run }) => ran.includes(run))
  if (isSame) return `its text has changed since ${nameOf(trial)}: run it again`
  return `its check has changed since ${nameOf(trial)}, which ran ${ran.map(codeSpan).join(", ")}`
}

function checksIn({ steps }: TrialOutline): string[] {
  const runs = steps.flatMap(({ role, run }) => (role === "green" && run !== undefined ? run : []))
  return [...new Set(runs)]
}

function nameOf({ announcement }: TrialOutline): string {
  return `trial ${announcement.sequence}`
}
