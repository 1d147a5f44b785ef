import { copyFileSync, existsSync, rmSync, statSync, utimesSync } from "node:fs"
import { join, relative } from "node:path"
import { draftPattern } from "../files/write-text.ts"
import { answerOf, changeWorktrees, type Git, gitIn } from "./git.ts"
import type { Change, Ground, Snapshot, WorkFiles } from "./ground.ts"
import type { RunnerFolder } from "./runner-folder.ts"

/** A snapshot that is a commit: the task branch grows from it. */
export type GitSnapshot = Snapshot & {
  readonly commit: string
  /** What stands in a place now, as a tree; what git ignores is left out. */
  writtenIn(path: string): Promise<string>
  /** Git's directory, and an index of ours that has the snapshot and nothing else. */
  index(): Promise<{ gitDirectory: string; index: string }>
}

export type GitGround = Ground<"git", GitSnapshot> & {
  readonly git: Git
  /** A commit that exists already. */
  at(commit: string): Promise<GitSnapshot>
}

export function gitGround(
  directory: string,
  folder: RunnerFolder,
  environment: Readonly<Record<string, string | undefined>>,
  without: readonly string[] = [],
): GitGround {
  const git = gitIn(directory, environment)
  const at = async (commit: string): Promise<GitSnapshot> => {
    const tree = (await git(["rev-parse", `${commit}^{tree}`])).trim()
    const within = async <Found>(path: string, find: (git: Git) => Promise<Found>) => {
      const index = folder.fresh("index")
      try {
        return await find(await gitWithin(git, path, index, environment))
      } finally {
        rmSync(index, { force: true })
      }
    }
    return {
      tree,
      commit,
      writtenIn: (path) => within(path, (inside) => writtenTree(inside, commit)),
      async index() {
        const index = folder.fresh("index")
        await git(["read-tree", commit], { env: { GIT_INDEX_FILE: index } })
        return { gitDirectory: (await git(["rev-parse", "--absolute-git-dir"])).trim(), index }
      },
      async place(path) {
        const how = ["--quiet", "--detach", "--lock", "--reason", "used by cc-executor"]
        await changeWorktrees(git, () => git(["worktree", "add", ...how, path, commit]))
        return { path, changes: () => within(path, (inside) => changesSince(inside, commit)) }
      },
    }
  }
  return {
    directory,
    kind: "git",
    git,
    at,
    snapshot: async (work, taken) =>
      at(await commitSnapshot(git, work, taken.fresh("index"), without)),
  }
}

/**
 * The directory as it stands: what is committed, changed, or new and not ignored. Nothing of the
 * user's index, branch or stash is touched.
 */
async function commitSnapshot(
  git: Git,
  work: WorkFiles,
  index: string,
  without: readonly string[],
): Promise<string> {
  const own = (await git(["rev-parse", "--git-path", "index"])).trim()
  const ownPath = join(git.directory, own)
  // With what it knows of unchanged files, not all of them have to be read.
  const source = own.startsWith("/") ? own : ownPath
  if (existsSync(source)) copyIndex(source, index)
  const env = { GIT_INDEX_FILE: index }
  // The ledger grows with every trial: git would keep each state of it.
  const ledger = `:(exclude,literal)${work.ledger}`
  const left = [ledger, `:(exclude,glob)${draftPattern}`, ...without.flatMap(excluded)]
  await git(["add", "--all", "--", ".", ...left], { env })
  const parent = await headOf(git)
  const blob = await workBlob(git, work, parent)
  await git(["update-index", "--add", "--cacheinfo", `100644,${blob},${work.file}`], { env })
  await git(["update-index", "--force-remove", "--", work.ledger], { env })
  const tree = (await git(["write-tree"], { env })).trim()
  if (parent !== null && (await git(["rev-parse", `${parent}^{tree}`])).trim() === tree)
    return parent
  const message = "State of the directory"
  const parents = parent === null ? [] : ["-p", parent]
  return (await git(["commit-tree", tree, ...parents, "-m", message])).trim()

  function excluded(path: string): string[] {
    const below = relative(git.directory, path)
    return below.startsWith("..") ? [] : [`:(exclude,literal)${below}`]
  }
}

/** With its time: git looks again at files that have changed in the moment it was written. */
function copyIndex(source: string, index: string): void {
  const { atime, mtime } = statSync(source)
  copyFileSync(source, index)
  utimesSync(index, atime, mtime)
}

/** As it is committed, where no more than what was rendered has changed: that is no change. */
async function workBlob(git: Git, work: WorkFiles, head: string | null): Promise<string> {
  const committed = head === null ? null : await committedBlob(git, head, work.file)
  if (committed !== null && work.isSame(await git(["cat-file", "blob", committed]))) {
    return committed
  }
  return (await git(["hash-object", "-w", "--stdin"], { input: work.ownText })).trim()
}

async function committedBlob(git: Git, head: string, file: string): Promise<string | null> {
  const [entry = ""] = (await git(["ls-tree", "-z", head, "--", file])).split("\0")
  return /^100\d{3} blob ([0-9a-f]+)\t/.exec(entry)?.[1] ?? null
}

/** Null in a repository without a commit. */
async function headOf(git: Git): Promise<string | null> {
  const head = await answerOf(git(["rev-parse", "--quiet", "--verify", "HEAD^{commit}"]))
  return head === null ? null : head.trim()
}

/**
 * For what stands in a place, with an index of our own: what git says there by itself is up to
 * whoever acts there.
 */
async function gitWithin(
  git: Git,
  path: string,
  index: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Git> {
  const directory = (await git(["rev-parse", "--absolute-git-dir"])).trim()
  const env = { GIT_DIR: directory, GIT_WORK_TREE: path, GIT_INDEX_FILE: index }
  const within = gitIn(path, environment)
  return Object.assign((args: readonly string[]) => within(args, { env }), { directory: path })
}

async function changesSince(git: Git, commit: string): Promise<readonly Change[]> {
  await git(["read-tree", commit])
  const list = async (...kinds: string[]) => {
    const listed = await git(["ls-files", "-z", ...kinds, "--", "."])
    return [...new Set(listed.split("\0"))].filter((path) => path !== "")
  }
  const removed = await list("--deleted")
  const written = await list("--modified", "--others")
  const gone = new Set(removed)
  return [
    ...removed.map((path): Change => ({ path, kind: "removed" })),
    ...written.filter((path) => !gone.has(path)).map((path): Change => ({ path, kind: "written" })),
  ]
}

async function writtenTree(git: Git, commit: string): Promise<string> {
  await git(["read-tree", commit])
  await git(["add", "--all", "--", "."])
  return (await git(["write-tree"])).trim()
}
