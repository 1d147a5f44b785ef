import type { AttestedTrial, StepFacts } from "../../execution/trial/attestation.ts"
import { judgeTrial } from "../../execution/trial/verdict.ts"
import type { StepReceipt } from "./check-steps.ts"
import type { LineFault } from "./damage.ts"

/** Judges the trial again by what stands inside, and says where the verdict stated differs. */
export function verdictFault(
  { announcement, verdict, reasons, steps }: AttestedTrial,
  receipts: ReadonlyMap<string, StepReceipt>,
): LineFault | null {
  const facts = new Map<string, StepFacts>()
  for (const { id, execution_id, reused, marker_found: marker, session } of steps) {
    if (execution_id === null) continue
    const outcome = receipts.get(id)?.outcome ?? null
    facts.set(id, { execution_id, reused, outcome, marker, session })
  }
  // Why a trial came to no end only the service knows: no receipt says it.
  const lost = verdict === "LOST" ? (reasons[0] ?? "") : null
  const judged = judgeTrial(announcement.definition, facts, lost)
  if (judged.verdict !== verdict) {
    const reason = `it says ${verdict}, but what stands inside makes it ${judged.verdict}`
    return { kind: "verdict", reason }
  }
  const other = judged.steps.find(({ finding, exit }, index) => {
    const step = steps[index]
    return step?.finding !== finding || step.exit !== exit
  })
  if (other === undefined) return null
  return { kind: "verdict", reason: `what it says of ${other.role} ${other.id} does not follow` }
}
