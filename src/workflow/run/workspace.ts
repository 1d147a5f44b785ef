import { dirname, relative } from "node:path"
import { readWork } from "../documents/work-kind.ts"
import { ledgerPathOf } from "../ledger/ledger-text.ts"
import { ownText } from "../plan/own-text.ts"
import type { ReadWork } from "./files/read-work.ts"
import { findRepository } from "./places/git.ts"
import { type GitGround, gitGround } from "./places/git-ground.ts"
import type { WorkFiles } from "./places/ground.ts"
import { type PlainGround, plainGround } from "./places/plain-ground.ts"
import { openRunnerFolder, type RunnerFolder, sweepRunnerFolders } from "./places/runner-folder.ts"
import { reviewHome } from "./review/round-files.ts"
import type { World } from "./world.ts"

/** The directory that a work is about, and where a runner makes copies of it. */
export type Workspace = AsyncDisposable & {
  readonly ground: GitGround | PlainGround
  readonly folder: RunnerFolder
}

/** What runners have left that were killed. */
export function clearAway({ places, environment }: World): Promise<void> {
  return sweepRunnerFolders(places, environment)
}

/** The repository that the work is in; without one, the work's own directory. */
export async function openWorkspace(world: World, { path, work }: ReadWork): Promise<Workspace> {
  const { places, stateDirectory, environment } = world
  const repository = findRepository(dirname(path))
  // The folders of reviews are in the directory that is reviewed.
  const ofReview = work.kind === "fixes" || work.kind === "review"
  const directory = ofReview ? reviewHome(path) : dirname(path)
  const folder = await openRunnerFolder(places, repository, environment)
  const ground =
    repository === null
      ? plainGround(directory, [places, stateDirectory])
      : gitGround(repository, folder, environment, [places, stateDirectory])
  return { ground, folder, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

export function workFiles({ ground }: Workspace, { path, work }: ReadWork): WorkFiles {
  const own = ownText(work)
  return {
    file: relative(ground.directory, path),
    ownText: Buffer.from(own),
    isSame(text) {
      // Its fixes are told one by one: a branch of them that leaves it alone can be merged.
      if (work.kind === "fixes") return true
      const other = readWork(text)
      return other.ok && ownText(other.value) === own
    },
    ledger: relative(ground.directory, ledgerPathOf(path)),
  }
}
