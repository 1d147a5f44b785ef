import type { AttestedTrial, TrialOutline } from "../../../execution/trial/attestation.ts"
import type { Fix } from "../../documents/review/fix-list.ts"
import { fixState, isClosed } from "../../ledger/fix-state.ts"
import { bringUpToDate, type WorkState } from "../files/work-state.ts"
import { runOneTrial } from "../one-trial.ts"
import type { Snapshot } from "../places/ground.ts"
import { unmergedBranch } from "../places/task-branch.ts"
import { type RunOptions, Spending } from "../run-options.ts"
import { openWorkspace, workFiles } from "../workspace.ts"
import type { World } from "../world.ts"
import { aimFor, fixListOf, inOrderOfSeverity, roundOf } from "./run-fixes.ts"

export type Reverified = {
  readonly state: WorkState
  readonly trials: readonly AttestedTrial[]
  readonly holds: readonly Fix[]
  /** Was done once, and is not any more. */
  readonly undone: readonly Fix[]
}

/**
 * Runs the checks of what was done again, on the directory as it is now and without a fixer. What
 * they failed in before is long changed: that they failed there is on record.
 */
export async function reverifyFixes(
  world: World,
  path: string,
  options: RunOptions,
): Promise<Reverified> {
  let state = await bringUpToDate(world, path)
  const { settings } = roundOf(state, null)
  const done = inOrderOfSeverity(fixListOf(state).fixes).flatMap((fix) => {
    const was = lastSuccess(state, fix)
    return was === null || fix.check === null ? [] : [{ fix, was }]
  })
  const trials: AttestedTrial[] = []
  if (done.length > 0) {
    await using workspace = await openWorkspace(world, state)
    const { ground } = workspace
    const left = ground.kind === "git" ? await unmergedBranch(ground.git, state.name) : null
    if (left !== null) options.tell({ kind: "note", text: unmergedText(left) })
    const now = await ground.snapshot(workFiles(workspace, state), workspace.folder)
    for (const { fix, was } of done) {
      if (options.signal.aborted) break
      const { id: item, version } = fix
      const again = async (snapshot: Snapshot, where: "base" | "elsewhere") => {
        const own = { ...state, work: { ...state.work, settings } }
        const aim = aimFor(settings, fix, where)
        const asked = { state: own, aim, snapshot, version, item, prompt: null }
        await using folder = workspace.folder.part()
        const within = { ...workspace, folder }
        const result = await runOneTrial(world, within, asked, options, new Spending(null))
        trials.push(result.trial)
        state = await bringUpToDate(world, path, state)
        return result.trial.verdict
      }
      const tree = was.announcement.definition.tree ?? now.tree
      const where = failedAtBase(was) ? "base" : "elsewhere"
      const verdict = await again({ tree, place: (at) => now.place(at) }, where)
      // The service here does not know that red: then it must fail in an empty directory.
      if (verdict === "WARNED" && where === "base") await again(now, "elsewhere")
    }
  }
  const states = done.map(({ fix }) => ({ fix, now: fixState(fix, state.summary) }))
  return {
    state,
    trials,
    holds: states.filter(({ now }) => isClosed(now)).map(({ fix }) => fix),
    undone: states.filter(({ now }) => !isClosed(now)).map(({ fix }) => fix),
  }
}

function unmergedText(branch: string): string {
  return `The branch ${branch} is not merged: what was fixed there is not in this directory.`
}

function lastSuccess({ summary }: WorkState, { id, version }: Fix): TrialOutline | null {
  const found = summary.trials.findLast(
    ({ announcement, verdict }) =>
      verdict === "PASSED" && announcement.work.item === id && announcement.version === version,
  )
  return found ?? null
}

function failedAtBase({ steps }: TrialOutline): boolean {
  return steps.some(({ red, finding }) => red === "base" && finding === "right")
}
