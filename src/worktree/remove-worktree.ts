import { existsSync, rmdirSync, rmSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { Worktree } from "../execution/worktree.ts"
import { isErrno } from "../lib/errno.ts"
import { type Git, Refusal } from "./git.ts"
import { commitOf } from "./tree-state.ts"

/** With its branch, whatever is in it. */
export async function removeWorktree(
  git: Git,
  { base, path, branch }: Pick<Worktree, "base" | "path" | "branch">,
): Promise<void> {
  if (!existsSync(base)) {
    throw new Refusal(`${base} is gone, and git cannot remove a worktree without it.`)
  }
  // Twice, as one that was never finished is locked.
  if (existsSync(path)) await git.text(base, ["worktree", "remove", "--force", "--force", path])
  await git.text(base, ["worktree", "prune"])
  if ((await commitOf(git, base, `refs/heads/${branch}`)) !== null) {
    await git.text(base, ["branch", "--quiet", "-D", branch])
  }
  removePlace(dirname(path))
}

/** The directory of all worktrees, once there are none. */
function removePlace(place: string): void {
  const own = dirname(place)
  if (basename(place) !== "worktrees" || basename(own) !== ".cc-executor") return
  try {
    rmdirSync(place)
    rmSync(join(own, ".gitignore"), { force: true })
    rmdirSync(own)
  } catch (error) {
    if (!isErrno(error, "ENOTEMPTY", "EEXIST", "ENOENT")) throw error
  }
}
