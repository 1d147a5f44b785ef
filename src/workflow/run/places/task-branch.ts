import { WorkFailure } from "../work-failure.ts"
import { answerOf, changeWorktrees, type Git, gitIn } from "./git.ts"
import type { GitGround, GitSnapshot } from "./git-ground.ts"
import type { RunnerFolder } from "./runner-folder.ts"

/** Where what tasks have done is kept, for a person to look at and merge. */
export type TaskBranch = {
  readonly name: string
  /** What the next task begins with. */
  readonly base: GitSnapshot
  /** One with that tree, which the branch does not have yet. */
  commitObject(tree: string, message: string): Promise<string>
  /** Puts such a commit onto the branch. */
  advance(commit: string): Promise<TaskBranch>
}

const trailer = "Cc-Executor-Directory"

/**
 * Goes on where the branch is. What was done in the directory since is merged into it first; a
 * branch that was merged into the directory's own history begins anew there.
 */
export async function openTaskBranch(
  ground: GitGround,
  workName: string,
  now: GitSnapshot,
  folder: RunnerFolder,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<TaskBranch> {
  const { git } = ground
  const name = `cc-executor/${branchName(workName)}`
  await refuseCheckedOut(git, name)
  const tip = await commitAt(git, `refs/heads/${name}`)
  if (tip === null || (await isMerged(git, tip))) return branch(ground, name, tip, now, now.commit)
  const state = await lastState(git, tip)
  const isSame = (await ground.at(state)).tree === now.tree
  if (isSame) return branch(ground, name, tip, await ground.at(tip), state)
  const taken = await git([
    "commit-tree",
    now.tree,
    "-p",
    state,
    "-p",
    now.commit,
    "-m",
    "State of the directory",
  ])
  const merged = await merge(git, tip, taken.trim(), name, folder.fresh("merge"), environment)
  return branch(ground, name, tip, await ground.at(merged), taken.trim())
}

/** The branch of a work, where the directory does not have what is on it; null else. */
export async function unmergedBranch(git: Git, workName: string): Promise<string | null> {
  const name = `cc-executor/${branchName(workName)}`
  const tip = await commitAt(git, `refs/heads/${name}`)
  return tip === null || (await isMerged(git, tip)) ? null : name
}

function branch(
  ground: GitGround,
  name: string,
  tip: string | null,
  base: GitSnapshot,
  state: string,
): TaskBranch {
  return {
    name,
    base,
    async commitObject(tree, message) {
      const input = `${message}\n\n${trailer}: ${state}\n`
      return (
        await ground.git(["commit-tree", tree, "-p", base.commit, "-F", "-"], { input })
      ).trim()
    },
    async advance(commit) {
      await ground.git(["update-ref", `refs/heads/${name}`, commit, tip ?? "0".repeat(40)])
      return branch(ground, name, commit, await ground.at(commit), state)
    },
  }
}

/** As git allows it in the name of a branch. */
function branchName(name: string): string {
  const allowed = name.normalize("NFC").replace(/[^\p{L}\p{N}._-]+/gu, "-")
  const trimmed = allowed.replace(/\.{2,}/g, ".").replace(/^[-.]+|[-.]+$|\.lock$/g, "")
  return trimmed === "" ? "work" : trimmed
}

async function refuseCheckedOut(git: Git, name: string): Promise<void> {
  const listed = await changeWorktrees(git, () => git(["worktree", "list", "--porcelain", "-z"]))
  const entries = listed.split("\0\0").map((entry) => entry.split("\0"))
  const holder = entries.find((lines) => lines.includes(`branch refs/heads/${name}`))
  if (holder === undefined) return
  const path = holder.find((line) => line.startsWith("worktree "))?.slice(9) ?? "a worktree"
  throw new WorkFailure(
    `The branch ${name} is checked out in ${path}, so nothing may be committed to it: ` +
      "switch to another branch there.",
  )
}

async function commitAt(git: Git, ref: string): Promise<string | null> {
  const found = await answerOf(git(["rev-parse", "--quiet", "--verify", `${ref}^{commit}`]))
  return found === null ? null : found.trim()
}

async function isMerged(git: Git, tip: string): Promise<boolean> {
  const head = await commitAt(git, "HEAD")
  if (head === null) return false
  return (await answerOf(git(["merge-base", "--is-ancestor", tip, head]))) !== null
}

/** The state of the directory that the branch has last taken over. */
async function lastState(git: Git, tip: string): Promise<string> {
  const format = `--format=%(trailers:key=${trailer},valueonly,separator=%x2C)`
  const listed = await git(["log", "--first-parent", "--max-count=500", format, tip])
  const found = listed.split("\n").find((line) => /^[0-9a-f]{40,64}$/.test(line))
  return found ?? (await git(["merge-base", tip, "HEAD"])).trim()
}

async function merge(
  git: Git,
  tip: string,
  other: string,
  name: string,
  path: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  await changeWorktrees(git, () => git(["worktree", "add", "--quiet", "--detach", path, tip]))
  const within = gitIn(path, environment)
  try {
    const message = "Merge the state of the directory"
    await within(["merge", "--quiet", "--no-ff", "--no-verify", "-m", message, other])
    return (await within(["rev-parse", "HEAD"])).trim()
  } catch (error) {
    if (!(error instanceof WorkFailure)) throw error
    const conflicts = await within(["diff", "--name-only", "--diff-filter=U"])
    if (conflicts.trim() === "") throw error
    const names = conflicts.trim().split("\n").join(", ")
    throw new WorkFailure(
      `What has changed in the directory conflicts with the branch ${name} in ${names}: ` +
        `merge the branch, or delete it with \`git branch -D ${name}\`.`,
    )
  } finally {
    await changeWorktrees(git, () => git(["worktree", "remove", "--force", path]))
  }
}
