import { Receipt } from "../../execution/receipt.ts"
import type { Outcome } from "../../execution/state.ts"
import type { AttestedStep, AttestedTrial, StepFacts } from "../../execution/trial/attestation.ts"
import { judgeTrial } from "../../execution/trial/verdict.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import type { LineFault } from "./damage.ts"

/** Judges the trial again by what stands inside, and says where the verdict stated differs. */
export function verdictFault({
  announcement,
  verdict,
  reasons,
  steps,
}: AttestedTrial): LineFault | null {
  const facts = new Map<string, StepFacts>()
  for (const step of steps) {
    const found = factsOf(step)
    if (found !== null) facts.set(step.id, found)
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

function factsOf(step: AttestedStep): StepFacts | null {
  const { execution_id, reused, marker_found: marker, session, receipt } = step
  if (execution_id === null) return null
  const outcome = receipt === null ? null : outcomeIn(receipt.payload)
  return { execution_id, reused, outcome, marker, session }
}

const OutcomeOnly = Receipt.pick({ outcome: true })

/** Its signature was verified before. */
function outcomeIn(payload: string): Outcome | null {
  const text = Buffer.from(payload, "base64").toString("utf8")
  return OutcomeOnly.safeParse(tryParseJson(text)).data?.outcome ?? null
}
