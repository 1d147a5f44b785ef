import {
  closeSync,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import { randomName } from "../../../client/random-name.ts"
import { isErrno } from "../../../lib/errno.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { tryLock } from "../../../service/os/libc.ts"
import { WorkFailure } from "../work-failure.ts"
import { changeWorktrees, type Git, gitIn } from "./git.ts"

type Environment = Readonly<Record<string, string | undefined>>

/** What is to be undone before the folder may go. */
const Owner = z.object({ repository: z.string().nullable() })

const ownerName = "owner.json"

/** Where one runner keeps its places. Whoever comes after one that was killed clears them away. */
export type RunnerFolder = AsyncDisposable & {
  readonly path: string
  /** A path in it that nobody has used. */
  fresh(name: string): string
  /** The same folder; what is made through this one goes with it, before the runner ends. */
  part(): RunnerFolder
}

export async function openRunnerFolder(
  root: string,
  repository: string | null,
  environment: Environment,
): Promise<RunnerFolder> {
  makeRoot(root)
  const { path, lock } = makeLocked(realpathSync(root))
  writeFileSync(lock, JSON.stringify({ repository }))
  let used = 0
  const fresh = (name: string) => {
    used += 1
    return join(path, `${name}-${used}`)
  }
  const part = (): RunnerFolder => {
    const made: string[] = []
    return {
      path,
      fresh(name) {
        const own = fresh(name)
        made.push(own)
        return own
      },
      part,
      [Symbol.asyncDispose]: () => removePlaces(made, repository, environment),
    }
  }
  return {
    path,
    fresh,
    part,
    async [Symbol.asyncDispose]() {
      await removePlaces([path], repository, environment)
      closeSync(lock)
    },
  }
}

/** One that clears away may come between any two of these steps: then they are taken again. */
function makeLocked(root: string): { path: string; lock: number } {
  for (;;) {
    const path = join(root, randomName())
    mkdirSync(path, { mode: 0o700 })
    const lock = createLock(join(path, ownerName))
    if (lock === null) continue
    if (tryLock(lock) && fstatSync(lock).nlink > 0) return { path, lock }
    closeSync(lock)
  }
}

function createLock(path: string): number | null {
  try {
    return openSync(path, "wx", 0o600)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return null
    throw error
  }
}

/** Clears away what runners have left that were killed; those that live hold their lock. */
export async function sweepRunnerFolders(root: string, environment: Environment): Promise<void> {
  for (const name of namesIn(root)) {
    const path = join(root, name)
    const lock = openLock(join(path, ownerName))
    if (lock === null) continue
    try {
      if (!tryLock(lock)) continue
      const { data } = Owner.safeParse(tryParseJson(readFileSync(lock, "utf8")))
      await removePlaces([path], data?.repository ?? null, environment)
    } finally {
      closeSync(lock)
    }
  }
}

function makeRoot(root: string): void {
  mkdirSync(root, { recursive: true, mode: 0o700 })
  const stat = lstatSync(realpathSync(root))
  if (stat.uid === process.geteuid?.() && stat.isDirectory()) return
  throw new WorkFailure(
    `${root} belongs to another user: set XDG_CACHE_HOME to a directory of yours.`,
  )
}

function namesIn(root: string): string[] {
  try {
    return readdirSync(root)
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []
    throw error
  }
}

function openLock(path: string): number | null {
  try {
    return openSync(path, "r")
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR")) throw error
    removeEmpty(dirname(path)) // its runner was killed before it made more of it
    return null
  }
}

function removeEmpty(path: string): void {
  try {
    rmdirSync(path)
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ENOTDIR", "ENOTEMPTY")) throw error
  }
}

async function removePlaces(
  paths: readonly string[],
  repository: string | null,
  environment: Environment,
): Promise<void> {
  if (repository !== null && existsSync(repository)) {
    const git = gitIn(repository, environment)
    await changeWorktrees(git, () => removeWorktrees(git, paths))
    return
  }
  for (const path of paths) removeFolder(path)
}

async function removeWorktrees(git: Git, paths: readonly string[]): Promise<void> {
  const listed = await git(["worktree", "list", "--porcelain", "-z"])
  for (const worktree of worktreesIn(listed, paths)) {
    // An act may have changed it in any way; what is not found any more is pruned below.
    await git(["worktree", "unlock", worktree]).catch(() => undefined)
  }
  for (const path of paths) removeFolder(path)
  await git(["worktree", "prune", "--expire=now"])
}

function worktreesIn(listed: string, paths: readonly string[]): string[] {
  const lines = listed.split("\0").filter((line) => line.startsWith("worktree "))
  const isIn = (place: string) => paths.some((path) => `${place}/`.startsWith(`${path}/`))
  return lines.map((line) => line.slice(9)).filter(isIn)
}

/** Also what was made unwritable in it: the caches of some programs are. */
function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    if (!isErrno(error, "EACCES", "EPERM", "ENOTEMPTY", "EFAULT")) throw error
    Bun.spawnSync(["chmod", "-R", "u+rwX", path])
    rmSync(path, { recursive: true, force: true, maxRetries: 3 })
  }
}
