import { countsAs, type TrialVerdict } from "../../execution/trial/announcement.ts"

/** `failure` has those in it that were lost. Warned and broken trials count as neither. */
export type Counts = {
  success: number
  failure: number
  warned: number
  broken: number
  lost: number
}

export const noCounts: Counts = { success: 0, failure: 0, warned: 0, broken: 0, lost: 0 }

export function countsOf(verdicts: readonly TrialVerdict[]): Counts {
  const counts = { ...noCounts }
  for (const verdict of verdicts) {
    const counted = countsAs(verdict)
    if (counted !== null) counts[counted] += 1
    if (verdict === "WARNED") counts.warned += 1
    if (verdict === "BROKEN") counts.broken += 1
    if (verdict === "LOST") counts.lost += 1
  }
  return counts
}
