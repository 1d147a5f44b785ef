import { existsSync } from "node:fs"
import type { Worktree } from "../execution/worktree.ts"
import type { Git } from "./git.ts"

/** The worktree that git has under this path; null for none. */
export async function registeredAt(git: Git, base: string, path: string) {
  const listed = await git.text(base, ["worktree", "list", "--porcelain"], { reads: true })
  const entry = listed.split("\n\n").find((text) => text.split("\n")[0] === `worktree ${path}`)
  if (entry === undefined) return null
  const isUnfinished = /^locked initializing$/m.test(entry)
  return { path, isUnfinished, isPrunable: /^prunable/m.test(entry) }
}

/** What would be lost with a worktree; `commits` are those that nothing else has. */
export type Holdings = {
  isThere: boolean
  uncommitted: number
  untracked: number
  ignored: number
  commits: number
  /** The newest commit of it; null where there is no branch either. */
  tip: string | null
}

export async function holdingsOf(
  git: Git,
  { base, path, branch }: Pick<Worktree, "base" | "path" | "branch">,
): Promise<Holdings> {
  const isThere = existsSync(`${path}/.git`)
  const head = isThere ? await commitOf(git, path, "HEAD") : null
  const ofBranch = await commitOf(git, base, `refs/heads/${branch}`)
  const tips = [head, ofBranch].flatMap((tip) => (tip === null ? [] : [tip]))
  const others = [`--exclude=${branch}`, "--branches", "--remotes", "--tags", "HEAD"]
  const counting = ["rev-list", "--count", ...tips, "--not", ...others]
  const commits = tips.length === 0 ? 0 : Number(await git.text(base, counting, { reads: true }))
  const files = isThere ? await statusOf(git, path) : { uncommitted: 0, untracked: 0, ignored: 0 }
  return { isThere, ...files, commits, tip: head ?? ofBranch }
}

export async function commitOf(git: Git, at: string, name: string): Promise<string | null> {
  const found = await git.run(at, ["rev-parse", "--verify", "--quiet", `${name}^{commit}`])
  return found.exitCode === 0 ? found.out.trim() : null
}

export async function statusOf(git: Git, at: string) {
  const asked = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal"]
  const entries = await git.names(at, [...asked, "--ignored=traditional"])
  const ignored = entries.filter((entry) => entry.startsWith("!! ")).length
  const untracked = entries.filter((entry) => entry.startsWith("?? ")).length
  return { uncommitted: entries.length - ignored, untracked, ignored }
}
