import { faultText } from "../documents/fault.ts"
import type { Work } from "../documents/work-kind.ts"
import { damageText } from "../ledger/damage.ts"
import { fixState } from "../ledger/fix-state.ts"
import type { LedgerSummary } from "../ledger/summary.ts"
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
  /** Ticked by hand, or with a result that somebody has written. */
  readonly unattested: readonly Unattested[]
  /** What could not be checked. */
  readonly notices: readonly string[]
}

/** `says` is to be read after its id. */
export type Unattested = { id: string; line: number; says: string }

export async function verifyWork(world: World, path: string): Promise<WorkVerdict> {
  return verdictOn(await lookAt(world, path))
}

export function verdictOn(state: WorkState): WorkVerdict {
  const { path, text, work, summary, verified } = state
  const damages = verified.damages.map(damageText)
  const found = differencesFrom(text, summary)
  if (!found.ok) throw new WorkFailure(`${path}, ${faultText(found.failure)}.`)
  const differences = found.value
  const unattested = unattestedIn(work, summary)
  const isSound = damages.length === 0 && differences.length === 0 && unattested.length === 0
  return { verified: isSound, state, damages, differences, unattested, notices: verified.notices }
}

function unattestedIn(work: Work, summary: LedgerSummary): Unattested[] {
  if (work.kind === "tasks") {
    const ticked = work.tasks.filter((task) => taskState(task, summary).kind === "unattested")
    return ticked.map(({ id, line }) => ({ id, line, says: "is ticked, but nothing attests that" }))
  }
  if (work.kind !== "fixes" || summary.trials.length > 0) return []
  const claimed = work.fixes.filter(
    (fix) => fix.result !== null && fixState(fix, summary).kind === "open",
  )
  return claimed.map(({ id, line }) => {
    return { id, line, says: "has a result, but nothing attests that" }
  })
}
