import { type Dirent, readdirSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import { errnoOf } from "../../lib/errno.ts"
import { readReviewName, reviewId } from "../documents/review/review-name.ts"
import { readWorkFile } from "./files/read-work.ts"
import { lookAt } from "./files/work-state.ts"
import { findRepository, gitIn } from "./places/git.ts"
import { reviewHome, roundFiles } from "./review/round-files.ts"
import { WorkFailure } from "./work-failure.ts"
import { type WorkStatus, workStatus } from "./work-status.ts"
import type { World } from "./world.ts"

export type FoundWorks = {
  works: readonly WorkStatus[]
  /** Files that look like works and could not be read, in words. */
  unreadable: readonly string[]
}

const mostFiles = 5_000
const mostBytes = 1024 * 1024

/** The works at or below a directory that somebody has begun or could begin, latest first. */
export async function openWorks(world: World, directory: string): Promise<FoundWorks> {
  const paths = await markdownIn(world, directory)
  const works: WorkStatus[] = []
  const unreadable: string[] = []
  for (const path of paths) {
    try {
      const { work, ledgerPath } = readWorkFile(path)
      if (work.kind === "review" && isDelivered(path)) continue
      const isWork = work.kind !== "prompt" || work.settings.checks.length > 0
      if (!isWork && !hasTrials(ledgerPath)) continue
      works.push(workStatus(await lookAt(world, path)))
    } catch (error) {
      if (!(error instanceof WorkFailure)) throw error
      unreadable.push(error.message)
    }
  }
  const latestFirst = (one: WorkStatus, other: WorkStatus) =>
    (other.last_trial ?? "").localeCompare(one.last_trial ?? "")
  return { works: works.toSorted(latestFirst), unreadable }
}

function hasTrials(ledgerPath: string): boolean {
  return (statSync(ledgerPath, { throwIfNoEntry: false })?.size ?? 0) > 0
}

async function markdownIn({ environment }: World, directory: string): Promise<string[]> {
  const names =
    findRepository(directory) === null ? walk(directory) : await listed(directory, environment)
  const paths = names.filter((name) => isNamed(name)).map((name) => join(directory, name))
  return paths.filter(isSmallFile).slice(0, mostFiles)
}

function isNamed(name: string): boolean {
  return name.endsWith(".md") || readReviewName(basename(name))?.kind === "fixes"
}

/** What was delivered is told of by its list of fixes. */
function isDelivered(path: string): boolean {
  const name = readReviewName(basename(path))
  const files = roundFiles(reviewHome(path))
  return files.some(
    (one) => one.kind === "fixes" && name !== null && reviewId(one) === reviewId(name),
  )
}

async function listed(directory: string, environment: World["environment"]): Promise<string[]> {
  const git = gitIn(directory, environment)
  const args = ["--cached", "--others", "--exclude-standard", "-z", "--", "*.md", "*_fixes.json"]
  return (await git(["ls-files", ...args])).split("\0").filter((name) => name !== "")
}

function walk(directory: string, below = "", found: string[] = []): string[] {
  for (const entry of entriesOf(directory, below)) {
    if (found.length >= mostFiles) break
    const path = join(below, entry.name)
    const isHidden = entry.name.startsWith(".") || entry.name === "node_modules"
    if (entry.isDirectory() && !isHidden) walk(directory, path, found)
    else if (entry.isFile()) found.push(path)
  }
  return found
}

/** What cannot be read below the directory is left out. */
function entriesOf(directory: string, below: string): Dirent[] {
  try {
    return readdirSync(join(directory, below), { withFileTypes: true })
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    if (below !== "") return []
    throw new WorkFailure(`${directory} cannot be read (${errno}).`)
  }
}

function isSmallFile(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.size <= mostBytes
}
