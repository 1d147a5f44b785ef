import { dropWorktree } from "../../src/worktree/drop-worktree.ts"
import { Git } from "../../src/worktree/git.ts"
import { makeWorktree } from "../../src/worktree/make-worktree.ts"
import { takeWorktree } from "../../src/worktree/take-worktree.ts"
import type { Repository } from "./repository.ts"

export const isRoot = process.getuid?.() === 0
export const git = new Git("git", process.env, isRoot)

export const make = (cwd: string, name = "fix", busy: string[] = []) =>
  makeWorktree(git, { name, cwd, busy })
export const take = (worktree: Parameters<typeof takeWorktree>[1]) =>
  takeWorktree(git, worktree, "ID")
export const drop = (worktree: Parameters<typeof takeWorktree>[1], force = false) =>
  dropWorktree(git, { worktree, force, id: "ID" })

/** Why it was refused. */
export const refused = (done: Promise<unknown>) =>
  done.then(
    () => "it was done",
    (error: unknown) => String(error),
  )

/** A worktree in which an agent has committed something, and something else not. */
export async function worked(repository: Repository) {
  const { worktree } = await make(repository.path)
  const { path } = worktree
  repository.write("sum.js", "one\n2\nthree\n", path)
  repository.commit("Say two with a digit", path)
  repository.write("sum.js", "one\n2\nthree\nfour\n", path)
  repository.write("new/file.txt", "a\nb\n", path)
  return worktree
}
