import type { ExecutionId } from "../../execution/id.ts"
import type { Digest } from "../../execution/trial/announcement.ts"
import type { TrialOutline } from "../../execution/trial/attestation.ts"
import { redKey } from "./definition.ts"

/** Executions that were red for the same version of a work on the same files. */
export function reusableReds(
  trials: readonly TrialOutline[],
  version: Digest,
  tree: string,
): Map<string, ExecutionId> {
  const reds = new Map<string, ExecutionId>()
  for (const { announcement, steps } of trials) {
    const { definition } = announcement
    if (announcement.version !== version || definition.tree !== tree) continue
    for (const { id, role, finding, red, run, execution_id } of steps) {
      // With the tests of an act, it was seen to fail on other files.
      if (role !== "red" || finding !== "right" || id.startsWith("red-again-")) continue
      if (run === undefined || red === undefined || execution_id === null) continue
      if (red !== "spoil") reds.set(redKey({ run, red, spoil: null }), execution_id)
    }
  }
  return reds
}
