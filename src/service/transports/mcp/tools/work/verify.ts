import { z } from "zod"
import { exampleExecution } from "../../execution-summary.ts"
import { reply, tool } from "../tool.ts"
import { absolutePath, lookAtWork, workPath } from "./look-at-work.ts"
import {
  cut,
  exampleWork,
  mostListed,
  type ToldVerdict,
  viewOfWork,
  WorkView,
  workText,
} from "./work-view.ts"

const Output = z.object({
  execution_id: z.string().describe("of the command that looked"),
  ended: z.boolean().describe("false: `wait` with this execution_id, then call again"),
  verified: z
    .boolean()
    .nullable()
    .describe("true only where everything holds; null: not known yet"),
  damages: z.array(z.string()).describe("of the ledger: while there are any, nothing counts"),
  edited: z
    .array(z.object({ line: z.int(), stands: z.string(), should_be: z.string() }))
    .describe("what somebody has written in place of what the ledger shows"),
  unattested: z
    .array(z.object({ id: z.string(), line: z.int() }))
    .describe("boxes that were ticked by hand"),
  not_checked: z.array(z.string()),
  broken: z
    .array(z.object({ task: z.string().nullable(), reasons: z.array(z.string()) }))
    .describe("with `rerun`: tasks whose checks fail by now; their boxes are open again"),
  work: WorkView.nullable(),
})
type Output = z.infer<typeof Output>

const example: Output = {
  execution_id: exampleExecution.execution_id,
  ended: true,
  verified: true,
  damages: [],
  edited: [],
  unattested: [],
  not_checked: [],
  broken: [],
  work: exampleWork,
}

export const workVerifyTool = tool({
  name: "work_verify",
  title: "Verify the ticks and counts of a task list or a prompt",
  description:
    "Checks every tick and count in a task list or prompt file against its signed ledger and the " +
    "service's journal: finds what was ticked or edited by hand, and damage to the ledger. With " +
    "`rerun`, the checks of all done tasks run again, without an agent, and what is broken by " +
    "now is unticked. Call it before you report that tasks are done. To check a claim about the " +
    "output of a command, use `verify`.",
  input: z.strictObject({
    path: workPath,
    rerun: z.boolean().default(false).describe("of a list: run the checks of what is done again"),
    wait_s: z
      .number()
      .min(0)
      .max(3600)
      .default(45)
      .describe("seconds to wait; more than 45 only if the client allows that"),
  }),
  output: Output,
  examples: {
    input: { path: exampleWork.path },
    output: example,
    note: "VERIFIED: every tick and count is what the ledger shows.",
  },
  annotations: {
    readOnlyHint: false, // with `rerun`, checks run
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  },
  needs: ({ rerun }) => (rerun ? ["execute", "read", "attest"] : ["execute", "read"]),
  async answer(args, scope, call) {
    const path = absolutePath(args.path, call)
    if (!path.ok) return path
    const { rerun, wait_s } = args
    const key = call.idempotencyKey
    const looked = await lookAtWork(scope, call, path.value, wait_s * 1000, { rerun, key })
    if (!looked.ok) return looked
    const { record, told } = looked.value
    if (told === null) {
      const early = { ...example, execution_id: record.id, ended: false, verified: null }
      const text = `Execution ${record.id} is still verifying: \`wait\` for it, then call again`
      return reply(`${text}${rerun ? ", without `rerun`" : ""}.`, { ...early, work: null })
    }
    const work = viewOfWork(told.status)
    const found = foundBy(told)
    const { id: execution_id } = record
    const verdict = { execution_id, ended: true, verified: told.verified, ...found, work }
    return reply(verdictText(told), verdict, [...findings(found), workText(work)].join("\n"))
  },
})

function verdictText({ verified }: ToldVerdict): string {
  return verified
    ? "VERIFIED: every tick and count is what the ledger shows."
    : "NOT VERIFIED: do not report these ticks and counts as true. `cc-executor render FILE` " +
        "writes what the ledger shows; `work_run` does what is open."
}

type Found = Pick<Output, "damages" | "edited" | "unattested" | "not_checked" | "broken">

function foundBy({ damages, differences, unattested, notices, broken }: ToldVerdict): Found {
  const first = <One>(all: readonly One[]) => all.slice(0, mostListed)
  return {
    damages: first(damages).map(cut),
    edited: first(differences).map(({ line, stands, shouldBe }) => {
      return { line, stands: cut(stands), should_be: cut(shouldBe) }
    }),
    unattested: first(unattested),
    not_checked: first(notices).map(cut),
    broken: first(broken).map(({ task, reasons }) => ({ task, reasons: reasons.map(cut) })),
  }
}

function findings({ damages, edited, unattested, not_checked: notices, broken }: Found): string[] {
  return [
    ...damages.map((damage) => `damaged: ${damage}`),
    ...edited.map(({ line, stands, should_be: shouldBe }) => {
      return `edited: line ${line} says ${JSON.stringify(stands)}, not ${JSON.stringify(shouldBe)}`
    }),
    ...unattested.map(({ id, line }) => `line ${line}: ${id} is ticked, nothing attests that`),
    ...broken.map(({ task, reasons }) => `broken: ${task ?? "a trial"}: ${reasons.join("; ")}`),
    ...notices.map((notice) => `not checked: ${notice}`),
  ]
}
