import { readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { isErrno } from "../../../lib/errno.ts"
import type { ReviewRequest } from "../../documents/review/request.ts"
import {
  numberOf,
  type ReviewFileKind,
  type ReviewName,
  readReviewName,
  reviewId,
} from "../../documents/review/review-name.ts"
import { readWorkFile } from "../files/read-work.ts"

/** One file of a round, wherever it is. */
export type RoundFile = ReviewName & { kind: ReviewFileKind; path: string }

const sides = ["orchestrator", "executor"]
const trays = ["incoming", "outgoing"]

/** The directory in which the folders of both sides are; that of the file where there are none. */
export function reviewHome(path: string): string {
  const folder = dirname(path)
  const side = trays.includes(basename(folder)) ? dirname(folder) : folder
  return sides.includes(basename(side)) ? dirname(side) : folder
}

/** Every file of a round, in both folders, in those of either side, and beside them. */
export function roundFiles(home: string): RoundFile[] {
  const folders = sides.flatMap((side) => [side, ...trays.map((tray) => join(side, tray))])
  return ["", ...folders].flatMap((folder) => {
    const directory = join(home, folder)
    return namesIn(directory).flatMap((name): RoundFile[] => {
      const read = readReviewName(name)
      return read === null ? [] : [{ ...read, path: join(directory, name) }]
    })
  })
}

/** The request that a list of fixes answers, where it is one of ours. */
export function requestFor(fixesPath: string): { path: string; request: ReviewRequest } | null {
  const name = readReviewName(basename(fixesPath))
  if (name === null) return null
  const found = roundFiles(reviewHome(fixesPath)).filter(
    (one) => one.kind === "review_request" && reviewId(one) === reviewId(name),
  )
  for (const { path } of found) {
    const { work } = readWorkFile(path)
    if (work.kind === "review") return { path, request: work }
  }
  return null
}

/** The list of fixes of the round before, of the same component. */
export function previousFixes(home: string, name: ReviewName): string | null {
  const earlier = roundFiles(home).filter(
    ({ kind, component, seq }) =>
      kind === "fixes" && component === name.component && numberOf({ seq }) < numberOf(name),
  )
  return earlier.toSorted((one, other) => numberOf(other) - numberOf(one))[0]?.path ?? null
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return []
    throw error
  }
}
