import { CallError } from "../../client/client-error.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

/** In the environment of every act: which trial it belongs to. */
export const trialVariable = "WORK_TRIAL"

/** An id that no trial has: only whether it may be asked for is of interest. */
const noTrial = "a".repeat(26)

/**
 * What an act starts must not judge its own work. The service tells it by its processes; who
 * asks another service is told by its environment, which only honest acts leave as it is.
 */
export async function refuseWithinTrial({ client, within }: World): Promise<void> {
  if (within !== null) {
    throw new WorkFailure(
      `This is part of trial ${within}: what a trial starts must not judge or accept works.`,
    )
  }
  try {
    await client.call("trial.end", { trial: noTrial })
  } catch (error) {
    if (!(error instanceof CallError)) throw error
    if (error.failure.reason !== "TRIAL_NOT_FOUND") throw error
  }
}
