import type { Announcement } from "../../../execution/trial/announcement.ts"
import { earlierRed } from "./judged-trial.ts"
import type { TrialPorts } from "./trial-ports.ts"

type Ports = Pick<TrialPorts, "store">

/**
 * Why a red that is named cannot be used again; null where all can. It must have failed in the same
 * chain, for the same version and tree, at the same place and with the same text.
 */
export function whyNotReusable(announcement: Announcement, ports: Ports): string | null {
  for (const step of announcement.definition.steps) {
    if (step.role !== "red" || step.reuses === undefined) continue
    const red = earlierRed(step.reuses, ports)
    const trial = ports.store.trialOf(step.reuses)
    const before = trial === null ? null : ports.store.find(trial)
    const why =
      red === null || before === null
        ? "no trial that has ended ran it as a step"
        : whyDifferent(announcement, step, red, before)
    if (why !== null) return `Execution ${step.reuses} cannot be used again as a red: ${why}.`
  }
  return null
}

function whyDifferent(
  { principal, chain, version, definition: { tree } }: Announcement,
  step: { run: string; red: string },
  red: { role: string; finding: string; run?: string | undefined; red?: string | undefined },
  before: NonNullable<ReturnType<TrialPorts["store"]["find"]>>,
): string | null {
  const earlier = before.announcement
  if (earlier.principal !== principal || before.chain !== chain) return "it is of another chain"
  if (red.role !== "red" || red.finding !== "right") return "it did not fail where it had to"
  if (earlier.version !== version) return "it is of another version of the work"
  if (earlier.definition.tree !== tree) return "the files were others"
  if (red.red !== step.red) return "it ran in another place"
  return red.run === step.run ? null : "the check was another"
}
