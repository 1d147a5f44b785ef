import type { TrialDefinition } from "../../../execution/trial/announcement.ts"
import type { PlannedImprovement } from "../../improve/improvement-definition.ts"
import type { Place, Snapshot } from "../places/ground.ts"
import type { PreparedTrial } from "../trial/prepared-trial.ts"

const noAim = { checks: [], guards: [], setup: [], needs: [], recovery: [] }

/** All of it happens in the one place that is there already. */
export function preparedImprovement(
  definition: TrialDefinition,
  { act, tree, file }: PlannedImprovement,
  snapshot: Snapshot,
  place: Place,
): PreparedTrial {
  const { path } = place
  return {
    definition,
    snapshot,
    mayChange: null,
    act: place,
    planned: {
      aim: noAim,
      places: { base: path, act: path, empty: path, spoiled: () => path },
      tree,
      act,
      guards: { protect: null, surroundings: null },
      protect: [file],
      reds: new Map(),
    },
    makeBase: async () => undefined,
  }
}
