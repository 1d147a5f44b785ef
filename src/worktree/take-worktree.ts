import { existsSync, lstatSync } from "node:fs"
import { join } from "node:path"
import type { Worktree } from "../execution/worktree.ts"
import { isErrno } from "../lib/errno.ts"
import type { Taken } from "../protocol/worktree.ts"
import { changesIn } from "./changes.ts"
import { type Git, Refusal, wordsOf } from "./git.ts"
import { removeWorktree } from "./remove-worktree.ts"
import { snapshotOf } from "./snapshot.ts"
import { commitOf } from "./tree-state.ts"

const mostNamed = 10

/**
 * Merges the commits of a worktree into the branch it was made from; what is not committed there
 * becomes the same in that checkout. All of it is tried beforehand where nobody sees it: whatever
 * stands in the way is refused before anything is touched. Then the worktree is removed.
 */
export async function takeWorktree(git: Git, worktree: Worktree, id: string): Promise<Taken> {
  const { base, path, branch } = worktree
  if (!existsSync(join(path, ".git"))) {
    throw new Refusal(`There is no worktree ${path} any more: it was taken, dropped or removed.`)
  }
  const into = await checkBase(git, worktree, id)
  const { commits, files, added, removed, uncommitted } = await changesIn(git, worktree)
  const { tip, commit } = await snapshotOf(git, path)
  const head = await commitOf(git, base, "HEAD")
  if (head === null) throw new Refusal(`${base} has no commit.`)
  const result = await mergedTree(git, worktree, head, commit)
  await refuseOverlap(git, base, head, result)
  if (!(await git.succeeds(base, ["merge-base", "--is-ancestor", tip, head]))) {
    const isBranch = (await commitOf(git, base, `refs/heads/${branch}`)) === tip
    await merge(git, base, isBranch ? branch : tip)
  }
  await apply(git, worktree, result)
  await removeWorktree(git, worktree)
  return { into, commits, files, added, removed, uncommitted }
}

/** The branch that is taken into: the one the session was started from, checked out there still. */
async function checkBase(git: Git, { base, onto, path }: Worktree, id: string): Promise<string> {
  if (!existsSync(base)) throw new Refusal(`${base}, which the worktree was made from, is gone.`)
  if (onto === null) {
    throw new Refusal(
      `${base} had no branch checked out when the session began: merge or cherry-pick from ` +
        `${path} by hand, then \`cc-executor agent drop ${id}\`.`,
    )
  }
  const now = await git.run(base, ["symbolic-ref", "--quiet", "--short", "HEAD"])
  if (now.exitCode === 0 && now.out.trim() === onto) return onto
  const what = now.exitCode === 0 ? `the branch ${now.out.trim()}` : "no branch"
  throw new Refusal(
    `The session was started from the branch ${onto}, but ${base} has ${what} checked out now: ` +
      `check ${onto} out there, then try again. Nothing was changed.`,
  )
}

async function mergedTree(
  git: Git,
  { base, branch, onto }: Worktree,
  head: string,
  commit: string,
): Promise<string> {
  const trying = ["merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", head, commit]
  const tried = await git.run(base, trying)
  const [tree = "", ...conflicts] = tried.out.split("\0").filter((name) => name !== "")
  if (tried.exitCode === 0) return tree
  if (tried.exitCode !== 1) {
    throw new Refusal(`${wordsOf(tried, trying)}. (This needs git 2.38 or later.)`)
  }
  throw new Refusal(
    `It conflicts with what ${onto} has meanwhile, in ${named(conflicts)}. Nothing was changed. ` +
      `Merge ${onto} into ${branch} in the worktree, or have the agent do so, and take it then; ` +
      `or \`git merge ${branch}\` by hand.`,
  )
}

/** Files with somebody's own changes in the checkout are not touched. */
async function refuseOverlap(git: Git, base: string, head: string, tree: string): Promise<void> {
  const between = ["diff-tree", "-r", "-z", "--no-renames", "--name-only"]
  const toChange = new Set(await git.names(base, [...between, head, tree]))
  const diff = ["diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", "HEAD"]
  const changed = (await git.names(base, diff)).filter((name) => toChange.has(name))
  const newThere = ["diff-tree", "-r", "-z", "--no-renames", "--name-only", "--diff-filter=A"]
  const made = await git.names(base, [...newThere, head, tree])
  const inTheWay = made.filter((name) => isThere(base, name))
  const overlap = [...new Set([...changed, ...inTheWay])]
  if (overlap.length === 0) return
  throw new Refusal(
    `${base} has changes of its own that are not committed, in ${named(overlap)}: commit, stash ` +
      "or move them, then try again. Nothing was changed.",
  )
}

function isThere(base: string, name: string): boolean {
  try {
    return lstatSync(join(base, name), { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if (isErrno(error, "ENOTDIR")) return true // a file is where a directory has to be
    throw error
  }
}

async function merge(git: Git, base: string, what: string): Promise<void> {
  const merging = ["merge", "--quiet", "--no-edit", "--no-stat", what]
  const merged = await git.run(base, merging)
  if (merged.exitCode === 0) return
  const isHalfDone = (await commitOf(git, base, "MERGE_HEAD")) !== null
  const words = wordsOf(merged, merging)
  const isOurs = isHalfDone && !/not concluded your merge/.test(merged.err)
  if (isOurs) await git.text(base, ["merge", "--abort"])
  throw new Refusal(`${words}. Nothing was changed.`)
}

/** What was not committed, into the files alone: what is staged is somebody's own affair. */
async function apply(git: Git, { base, path }: Worktree, tree: string): Promise<void> {
  if (await git.succeeds(base, ["diff-tree", "--quiet", "HEAD", tree])) return
  // In a file, as it need not be text.
  const gitDir = await git.text(path, ["rev-parse", "--absolute-git-dir"])
  const patch = join(gitDir, `cc-executor-patch-${process.pid}`)
  const comparing = ["diff-tree", "-p", "--binary", "--full-index", "--no-renames"]
  await git.text(base, [...comparing, "--no-ext-diff", `--output=${patch}`, "HEAD", tree])
  const applying = ["apply", "--whitespace=nowarn", patch]
  const applied = await git.run(base, applying)
  if (applied.exitCode === 0) return
  throw new Refusal(
    `The commits were merged, but what was not committed could not be added to ${base}: it is in ` +
      `${path} still. ${wordsOf(applied, applying)}.`,
  )
}

function named(paths: readonly string[]): string {
  const more = paths.length - mostNamed
  return `${paths.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`
}
