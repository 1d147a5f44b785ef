import { withOwnIndex } from "./changes.ts"
import { type Git, Refusal } from "./git.ts"
import { commitOf } from "./tree-state.ts"

const author = {
  GIT_AUTHOR_NAME: "cc-executor",
  GIT_AUTHOR_EMAIL: "cc-executor@localhost",
  GIT_COMMITTER_NAME: "cc-executor",
  GIT_COMMITTER_EMAIL: "cc-executor@localhost",
}

export type Snapshot = { tip: string; commit: string }

/** A commit of everything as it stands in a worktree, on no branch; the tip where that is all. */
export async function snapshotOf(git: Git, path: string): Promise<Snapshot> {
  const tip = await commitOf(git, path, "HEAD")
  if (tip === null) throw new Refusal(`${path} has no commit.`)
  const tree = await withOwnIndex(git, path, async (env) => {
    await git.text(path, ["add", "--all"], { env })
    return git.text(path, ["write-tree"], { env })
  })
  const ofTip = await git.text(path, ["rev-parse", `${tip}^{tree}`])
  if (tree === ofTip) return { tip, commit: tip }
  await refuseNested(git, path, ofTip, tree)
  const committing = ["commit-tree", tree, "-p", tip, "-m", "Not committed in the worktree"]
  return { tip, commit: await git.text(path, committing, { env: author }) }
}

/** Of a repository within, only its commit's name would be kept. */
async function refuseNested(git: Git, path: string, from: string, to: string): Promise<void> {
  const told = await git.names(path, ["diff-tree", "-r", "-z", "--no-renames", from, to])
  const at = told.findIndex((entry) => /^:\d{6} 160000 /.test(entry))
  if (at === -1) return
  const nested = `${path}/${told[at + 1] ?? ""}`
  throw new Refusal(
    `${nested} is a git repository of its own, whose content git would not take along: move it ` +
      "away first.",
  )
}
