import { statSync } from "node:fs"
import { resolve } from "node:path"
import { ExecutionId } from "../../execution/id.ts"
import { rerunChecks } from "../../workflow/run/rerun-checks.ts"
import { verifyWork, type WorkVerdict } from "../../workflow/run/verify-work.ts"
import { workStatus } from "../../workflow/run/work-status.ts"
import type { Context } from "../context.ts"
import { untilTold } from "../terminal/interrupts.ts"
import { asLines } from "../terminal/terminal-text.ts"
import { inWorld } from "./in-world.ts"
import { showProgress } from "./show-progress.ts"
import { countsText } from "./status-text.ts"

type Values = {
  "state-dir"?: string | undefined
  json?: boolean | undefined
  rerun?: boolean | undefined
}

/** The path of the work that is meant, where an execution is not. */
export function namedWork(context: Pick<Context, "cwd">, operand: string): string | null {
  if (ExecutionId.safeParse(operand).success) return null
  const path = resolve(context.cwd, operand)
  if (operand.includes("/")) return path // why it cannot be read is told by whoever reads it
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : null
}

/** Checks counts and ticks against the ledger and the journal; answers the exit code. */
export async function verifyFile(
  context: Context,
  path: string,
  values: Values,
  trusted: readonly string[],
): Promise<number> {
  using told = untilTold(context)
  await using view = showProgress(context)
  const { tell } = view
  const { signal } = told
  const options = { session: {}, maxCostUsd: null, timeoutSeconds: null, tell, signal }
  const { verdict, again } = await inWorld(
    context,
    values,
    async (world) => {
      const trials = values.rerun === true ? await rerunChecks(world, path, options) : []
      return { verdict: await verifyWork(world, path), again: trials }
    },
    trusted,
  )
  await view[Symbol.asyncDispose]()
  const broken = again.filter((trial) => trial.verdict !== "PASSED")
  const isSound = verdict.verified && broken.length === 0
  if (values.json === true) {
    const { damages, differences, unattested, notices } = verdict
    const document = {
      verified: isSound,
      damages,
      differences,
      unattested: unattested.map(({ id, line }) => ({ id, line })),
      notices,
      broken: broken.map(({ announcement, reasons }) => {
        return { task: announcement.work.item ?? null, reasons }
      }),
      status: workStatus(verdict.state),
    }
    await context.stdout.write(`${JSON.stringify(document)}\n`)
  } else {
    const failed = broken.map(({ announcement, reasons }) => {
      return `broken       ${announcement.work.item ?? ""}: ${reasons.join("; ")}`
    })
    const end = isSound ? "VERIFIED" : "NOT VERIFIED"
    await context.stdout.write(asLines([...verdictLines(verdict), ...failed, end]))
  }
  return told.exitCode ?? (isSound ? 0 : 1)
}

function verdictLines({ state, damages, differences, unattested, notices }: WorkVerdict): string[] {
  const { verified, summary, ledgerPath } = state
  const isIntact = damages.length === 0
  const ledger = isIntact ? `intact, ${verified.trials.length} trials` : `DAMAGED: ${ledgerPath}`
  return [
    `ledger       ${ledger}`,
    ...damages.map((damage) => `             ${damage}`),
    ...(isIntact ? [`counts       ${countsText(workStatus(state))}`] : []),
    ...summary.open.map(({ sequence, item }) => {
      return `under way    trial ${sequence}${item === null ? "" : ` of ${item}`}`
    }),
    ...differences.map(({ line, stands, shouldBe }) => {
      return `edited       line ${line}: "${stands.trim()}" should be "${shouldBe.trim()}"`
    }),
    ...unattested.map(({ id, line, says }) => `unattested   line ${line}: ${id} ${says}`),
    ...notices.map((notice) => `not checked  ${notice}`),
  ]
}
