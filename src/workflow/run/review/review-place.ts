import { lstatSync, mkdirSync, readFileSync, renameSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import type { ReviewName } from "../../documents/review/review-name.ts"
import { leftByPrograms } from "../../plan/named-files.ts"
import { unchangedInGit } from "../../plan/review/review-definition.ts"
import { writeText } from "../files/write-text.ts"
import type { GitSnapshot } from "../places/git-ground.ts"
import type { Place, Snapshot } from "../places/ground.ts"
import { protectionOf } from "../trial/prepared-trial.ts"
import { deliveryPaths, type ReviewPaths } from "./deliver-review.ts"

/** The two files as they were found; null for one that is not there. */
export type Found = { feedback: Uint8Array | null; fixes: Uint8Array | null }

/** Where a reviewer writes its two files, seen from the directory it works in. */
export function pathsInPlace(ground: string, out: string, name: ReviewName): ReviewPaths {
  const below = relative(ground, out)
  const isInside = !below.startsWith("..") && !below.startsWith("/")
  return deliveryPaths(isInside ? below : "executor", name)
}

/** A text for bash that fails where anything but the two files is not as it is now. */
export async function unchangedCheck(
  snapshot: Snapshot,
  place: string,
  paths: ReviewPaths,
): Promise<string> {
  const { feedback, fixes } = paths
  const except = [feedback, fixes, previous(feedback), previous(fixes)]
  if (isOfGit(snapshot)) return unchangedInGit(await snapshot.index(), except, leftByPrograms)
  return (await protectionOf(["."], except, place)) ?? "true"
}

function isOfGit(snapshot: Snapshot): snapshot is GitSnapshot {
  return "index" in snapshot
}

/** For whoever is to do better what was done before. */
export function keepPrevious(place: string, paths: ReviewPaths, found: Found): void {
  for (const kind of ["feedback", "fixes"] as const) {
    const bytes = found[kind]
    if (bytes === null) continue
    const path = join(place, previous(paths[kind]))
    mkdirSync(dirname(path), { recursive: true })
    writeText(path, bytes)
  }
}

function previous(path: string): string {
  return `${path}.previous`
}

/** Files with the right names, that were written beside the right place, are put there. */
export async function collectStrays(place: Place, paths: ReviewPaths): Promise<void> {
  for (const wanted of [paths.feedback, paths.fixes]) {
    if (isFile(join(place.path, wanted))) continue
    const written = (await place.changes()).filter(({ kind }) => kind === "written")
    const stray = written.find(({ path }) => basename(path) === basename(wanted))
    if (stray === undefined || !isFile(join(place.path, stray.path))) continue
    mkdirSync(dirname(join(place.path, wanted)), { recursive: true })
    renameSync(join(place.path, stray.path), join(place.path, wanted))
  }
}

export function readFound(place: string, paths: ReviewPaths): Found {
  const read = (path: string) => readFile(join(place, path))
  return { feedback: read(paths.feedback), fixes: read(paths.fixes) }
}

export function readFile(path: string): Uint8Array | null {
  return isFile(path) ? readFileSync(path) : null
}

const mostBytes = 4 * 1024 * 1024

/** Links lead anywhere: what is delivered is a file. */
function isFile(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isFile() === true && stat.size <= mostBytes
}
