import { copyFileSync, existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import type { Worktree } from "../execution/worktree.ts"
import type { ChangedFile, Changes } from "../protocol/worktree.ts"
import type { Git } from "./git.ts"
import { commitOf, statusOf } from "./tree-state.ts"

const mostSubjects = 20
const mostFiles = 200

/** What is in a worktree that the branch it was made from does not have. */
export async function changesIn(git: Git, worktree: Worktree): Promise<Changes> {
  const { path, onto, base } = worktree
  if (!existsSync(join(path, ".git"))) {
    return { ...nothing, worktree, exists: false }
  }
  const target = onto === null ? null : await commitOf(git, base, `refs/heads/${onto}`)
  const log = ["log", "--format=%s", "-z", "HEAD", "--not", target ?? worktree.commit]
  const subjects = await git.names(path, log)
  const merged = ["merge-base", target ?? worktree.commit, "HEAD"]
  const found = await git.run(path, merged, { reads: true })
  const from = found.exitCode === 0 ? found.out.trim() : worktree.commit
  const changed = await changedSince(git, path, from)
  const sum = (key: "added" | "removed") =>
    changed.reduce((total, file) => total + (file[key] ?? 0), 0)
  return {
    worktree,
    exists: true,
    commits: subjects.length,
    subjects: subjects.slice(0, mostSubjects),
    files: changed.length,
    added: sum("added"),
    removed: sum("removed"),
    changed: changed.slice(0, mostFiles),
    ...(await statusOf(git, path)),
  }
}

const nothing = {
  commits: 0,
  subjects: [],
  files: 0,
  added: 0,
  removed: 0,
  changed: [],
  uncommitted: 0,
  untracked: 0,
  ignored: 0,
}

async function changedSince(git: Git, path: string, from: string): Promise<ChangedFile[]> {
  return withOwnIndex(git, path, async (env) => {
    // So that new files are counted, too; their content is not stored by this.
    await git.text(path, ["add", "--all", "--intent-to-add"], { env })
    const counting = ["diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"]
    const told = await git.names(path, [...counting, from], { env })
    return told.map((line) => {
      const [added = "", removed = "", ...name] = line.split("\t")
      return { path: name.join("\t"), added: linesIn(added), removed: linesIn(removed) }
    })
  })
}

function linesIn(text: string): number | null {
  return text === "-" ? null : Number(text)
}

/** The index of whoever works there stays as it is. */
export async function withOwnIndex<Found>(
  git: Git,
  path: string,
  use: (env: Record<string, string>) => Promise<Found>,
): Promise<Found> {
  const gitDir = await git.text(path, ["rev-parse", "--absolute-git-dir"])
  const own = join(gitDir, `cc-executor-index-${process.pid}`)
  const index = join(gitDir, "index")
  if (existsSync(index)) copyFileSync(index, own)
  try {
    return await use({ GIT_INDEX_FILE: own })
  } finally {
    for (const file of [own, `${own}.lock`]) rmSync(file, { force: true })
  }
}
