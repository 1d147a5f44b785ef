import type { AttestedTrial } from "../../../execution/trial/attestation.ts"
import type { FailedStep, KnownFailure } from "../../improve/improver-prompt.ts"
import { readTail } from "../trial/step-tail.ts"
import type { World } from "../world.ts"

const mostSteps = 10
const mostLines = 60

/** What the record has of the steps that failed. */
export async function knownFailure({ client }: World, trial: AttestedTrial): Promise<KnownFailure> {
  const failed = trial.steps.filter(({ finding }) => finding === "failed").slice(0, mostSteps)
  const steps: FailedStep[] = []
  for (const { id, run, reason, execution_id } of failed) {
    const output = execution_id === null ? "" : await readTail(client, execution_id, mostLines)
    steps.push({ id, asked: run ?? "", reason, output })
  }
  return { trial, steps }
}
