import { lookAt } from "../files/work-state.ts"
import { type WorkStatus, workStatus } from "../work-status.ts"
import type { World } from "../world.ts"
import { fixListOf } from "./run-fixes.ts"

/** What is known of every fix of a list, as its ledger shows it. */
export async function fixStatus(world: World, path: string): Promise<WorkStatus> {
  const state = await lookAt(world, path)
  fixListOf(state)
  return workStatus(state)
}
