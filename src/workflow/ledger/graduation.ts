import type { WorkCheck } from "../documents/front-matter.ts"
import type { Prompt } from "../documents/prompt.ts"
import { type Counts, noCounts } from "./counts.ts"
import { damageText } from "./damage.ts"
import type { LedgerSummary } from "./summary.ts"

export const neededRecoveryTests = 3

export type GraduationJudgement = {
  graduates: boolean
  missing: string[] // in words; empty where it graduates
  counts: Counts // those that decide: of the prompt's life, or of its version
  needed: number // successes
  recoveryGreen: number
}

export function judgeGraduation(prompt: Prompt, summary: LedgerSummary): GraduationJudgement {
  const { ratio, of } = prompt.settings.graduation
  const version = summary.versions.find((one) => one.version === prompt.version)
  const counts = of === "life" ? summary.life : (version?.counts ?? noCounts)
  const needed = Math.ceil(ratio * Math.max(1, counts.failure))
  const recoveryGreen = greenRecoveryTests(prompt, summary)
  const missing = summary.damages.map((damage) => `the ledger is damaged: ${damageText(damage)}`)
  if (missing.length === 0 && counts.success < needed) {
    const more = needed - counts.success
    const whose = of === "life" ? "" : " of this version"
    missing.push(
      `${counts.success}:${counts.failure}${whose}, which needs ${needed} successes: ${more} more`,
    )
  }
  if (recoveryGreen < neededRecoveryTests) {
    missing.push(`${recoveryGreen} of at least ${neededRecoveryTests} recovery tests are green`)
  }
  return { graduates: missing.length === 0, missing, counts, needed, recoveryGreen }
}

/** Recovery tests of the prompt as it is now that were green in its last trial that passed. */
function greenRecoveryTests({ settings }: Prompt, { trials }: LedgerSummary): number {
  const last = trials.findLast(({ verdict }) => verdict === "PASSED")
  const texts = ({ run }: WorkCheck) => run
  const checks = new Set(settings.checks.map(texts))
  const wanted = new Set(settings.recovery.map(texts).filter((run) => !checks.has(run)))
  const green = last?.announcement.definition.steps.filter((step) => {
    const found = last.steps.find(({ id }) => id === step.id)
    return step.role === "green" && found?.finding === "right" && wanted.has(step.check ?? step.run)
  })
  const seen = green?.flatMap((step) => (step.role === "green" ? (step.check ?? step.run) : []))
  return new Set(seen).size
}
