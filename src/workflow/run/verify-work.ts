import { faultText } from "../documents/fault.ts"
import type { Task } from "../documents/task.ts"
import { damageText } from "../ledger/damage.ts"
import { taskState } from "../ledger/task-state.ts"
import { type Difference, differencesFrom } from "../render/differences.ts"
import { lookAt, type WorkState } from "./files/work-state.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

/** Whether the numbers and ticks of a file are what its ledger and the journal show. */
export type WorkVerdict = {
  readonly verified: boolean
  readonly state: WorkState
  /** In words, with the line of the ledger. */
  readonly damages: readonly string[]
  readonly differences: readonly Difference[]
  /** Ticked by hand. */
  readonly unattested: readonly Task[]
  /** What could not be checked. */
  readonly notices: readonly string[]
}

export async function verifyWork(world: World, path: string): Promise<WorkVerdict> {
  return verdictOn(await lookAt(world, path))
}

export function verdictOn(state: WorkState): WorkVerdict {
  const { path, text, work, summary, verified } = state
  const damages = verified.damages.map(damageText)
  const found = differencesFrom(text, summary)
  if (!found.ok) throw new WorkFailure(`${path}, ${faultText(found.failure)}.`)
  const differences = found.value
  const tasks = work.kind === "tasks" ? work.tasks : []
  const unattested = tasks.filter((task) => taskState(task, summary).kind === "unattested")
  const isSound = damages.length === 0 && differences.length === 0 && unattested.length === 0
  return { verified: isSound, state, damages, differences, unattested, notices: verified.notices }
}
