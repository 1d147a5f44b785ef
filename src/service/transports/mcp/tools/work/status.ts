import { z } from "zod"
import { reply, tool } from "../tool.ts"
import { absolutePath, lookAtWork, workPath } from "./look-at-work.ts"
import { notYet } from "./run.ts"
import { countsText, exampleWork, viewOfWork, WorkView, workText } from "./work-view.ts"

const lookMs = 45_000

export const workStatusTool = tool({
  name: "work_status",
  title: "See how far a task list or a prompt is",
  description:
    "Says of a task list which tasks are open and done, and of a prompt its successes and " +
    "failures with their interval; what failed last, and why. It is read from the signed ledger " +
    "beside the file, not from what anybody wrote into the file. Runs no check. Use it before " +
    "and after `work_run`, and when you have lost the context.",
  input: z.strictObject({ path: workPath }),
  output: WorkView,
  examples: {
    input: { path: exampleWork.path },
    output: exampleWork,
    note: "1 of 2 tasks are verified; trials 1:0, 95 % interval of success 21 %–100 %. …",
  },
  annotations: { readOnlyHint: true, idempotentHint: true },
  needs: () => ["execute", "read"],
  async answer(args, scope, call) {
    const path = absolutePath(args.path, call)
    if (!path.ok) return path
    const key = call.idempotencyKey
    const looked = await lookAtWork(scope, call, path.value, lookMs, { key })
    if (!looked.ok) return looked
    const { record, told } = looked.value
    if (told === null) return notYet(record, path.value)
    const view = viewOfWork(told.status)
    return reply(`${standing(view)}${nextStep(view)}`, view, workText(view))
  },
})

function standing(view: WorkView): string {
  const counts = `trials ${countsText(view)}`
  const { tasks_verified: verified, tasks_accepted: accepted, tasks_open: open } = view
  if (verified === null || accepted === null || open === null) return `${view.name}: ${counts}.`
  const by = accepted === 0 ? "" : `, ${accepted} accepted by a person, as the file says`
  return `${verified} of ${verified + accepted + open} tasks are verified${by}; ${counts}.`
}

function nextStep({ under_way: underWay, tasks_open: open, problems }: WorkView): string {
  if (problems.length > 0) {
    return (
      " The file is not what its ledger shows: do not report such ticks or counts. " +
      "`cc-executor render FILE` restores it."
    )
  }
  if (underWay.length > 0) return " A trial is under way: ask again when it has ended."
  return open === null || open === 0 ? "" : " `work_run` does what is open."
}
