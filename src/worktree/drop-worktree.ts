import type { Worktree } from "../execution/worktree.ts"
import { countText } from "../lib/count-text.ts"
import type { Dropped } from "../protocol/worktree.ts"
import { type Git, Refusal } from "./git.ts"
import { removeWorktree } from "./remove-worktree.ts"
import { snapshotOf } from "./snapshot.ts"
import { holdingsOf } from "./tree-state.ts"

/** Removes a worktree and its branch. What nothing else has is lost only to those who say so. */
export async function dropWorktree(
  git: Git,
  { worktree, force, id }: { worktree: Worktree; force: boolean; id: string },
): Promise<Dropped> {
  const { commits, uncommitted, ignored, isThere, tip } = await holdingsOf(git, worktree)
  if (tip === null && !isThere) {
    throw new Refusal(`There is no worktree ${worktree.path} any more, and no branch of it.`)
  }
  if (commits + uncommitted > 0 && !force) {
    const lost = [
      ...(commits > 0 ? [countText(commits, "commit")] : []),
      ...(uncommitted > 0 ? [`uncommitted changes in ${countText(uncommitted, "file")}`] : []),
    ]
    throw new Refusal(
      `${worktree.path} has work that is nowhere else: ${lost.join(", and ")}. See it with ` +
        `\`cc-executor agent changes ${id}\`; take it with \`agent take ${id}\`, or drop it all ` +
        `the same with \`agent drop --force ${id}\`.`,
    )
  }
  const kept = uncommitted > 0 ? await keptOf(git, worktree.path) : commits > 0 ? tip : null
  await removeWorktree(git, worktree)
  return { commits, uncommitted, ignored, kept }
}

/** Takes back what a start has made that led to nothing; if work is in it, it stays. */
export async function undoWorktree(git: Git, worktree: Worktree): Promise<Record<string, never>> {
  const { commits, uncommitted, ignored } = await holdingsOf(git, worktree)
  if (commits + uncommitted + ignored === 0) await removeWorktree(git, worktree)
  return {}
}

/** Null where git cannot keep all of it. */
async function keptOf(git: Git, path: string): Promise<string | null> {
  try {
    return (await snapshotOf(git, path)).commit
  } catch (error) {
    if (error instanceof Refusal) return null
    throw error
  }
}
