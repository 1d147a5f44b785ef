import { join, resolve } from "node:path"
import type { AttestedTrial } from "../../../execution/trial/attestation.ts"
import { bringUpToDate, type WorkState } from "../files/work-state.ts"
import { refuseDamaged } from "../one-trial.ts"
import { type RunOptions, Spending } from "../run-options.ts"
import { refuseWithinTrial } from "../within-trial.ts"
import { openWorkspace } from "../workspace.ts"
import type { World } from "../world.ts"
import { deliveryPaths, type ReviewPaths, refuseAnswered, writeDelivery } from "./deliver-review.ts"
import { withUndone } from "./reopen-fixes.ts"
import { requestOf } from "./request-of.ts"
import { type Reverified, reverifyFixes } from "./reverify-fixes.ts"
import { type Refused, type ReviewRunOptions, tryOnce } from "./review-attempt.ts"
import { previousFixes, reviewHome } from "./round-files.ts"
import { idOf } from "./round-text.ts"

export type ReviewRun = {
  readonly state: WorkState
  readonly trials: readonly AttestedTrial[]
  readonly costUsd: number
  /** Null where the review was refused. */
  readonly delivered: ReviewPaths | null
  /** Why it was refused, in words. */
  readonly faults: readonly string[]
  /** Of the round before. */
  readonly reverified: Reverified | null
}

/** Has a request answered. What is not in its form gets one more attempt, told what is wrong. */
export async function runReview(
  world: World,
  path: string,
  options: ReviewRunOptions,
): Promise<ReviewRun> {
  await refuseWithinTrial(world)
  let state = await bringUpToDate(world, path)
  const { name } = requestOf(state)
  const home = reviewHome(state.path)
  const out = options.out ?? join(home, "executor")
  const target = deliveryPaths(out, name)
  refuseAnswered(target, name)
  refuseDamaged(state)
  const reverified = await verifyLastRound(world, state, options)
  const spending = new Spending(options.maxCostUsd)
  const trials: AttestedTrial[] = []
  await using workspace = await openWorkspace(world, state)
  let before: Refused | null = null
  for (let attempt = 1; ; attempt += 1) {
    const review = { world, workspace, state, options, spending, out, reverified }
    const tried = await tryOnce(review, before)
    trials.push(tried.trial)
    state = await bringUpToDate(world, path, state)
    const told = { state, trials, costUsd: spending.spentUsd, reverified }
    if (tried.kind === "delivered") {
      const fixes = withUndone(tried.texts.fixes, idOf(reverified), reverified?.undone ?? [])
      await writeDelivery(target, name, { ...tried.texts, fixes }, tried.quotes.executions)
      return { ...told, delivered: target, faults: [] }
    }
    const isLast = attempt === 2 || !tried.mayRepeat || options.signal.aborted || spending.isOver
    if (isLast) return { ...told, delivered: null, faults: tried.faults }
    options.tell({ kind: "note", text: refusedText(tried.faults) })
    before = tried
  }
}

async function verifyLastRound(
  world: World,
  state: WorkState,
  options: RunOptions,
): Promise<Reverified | null> {
  const { name, previous } = requestOf(state)
  const home = reviewHome(state.path)
  const path = previous === null ? previousFixes(home, name) : resolve(home, previous)
  return path === null ? null : reverifyFixes(world, path, options)
}

function refusedText(faults: readonly string[]): string {
  return ["What the reviewer has written is refused; it gets one more attempt:", ...faults]
    .map((line, index) => (index === 0 ? line : `  ${line}`))
    .join("\n")
}
