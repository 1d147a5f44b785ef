import { createHash } from "node:crypto"
import {
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { isErrno } from "../../../lib/errno.ts"
import { WorkFailure } from "../work-failure.ts"
import type { Change, Ground, Snapshot } from "./ground.ts"

/** What a file is, by its path: its mode, and its digest or where it leads. */
type Listing = ReadonlyMap<string, string>

/** A snapshot that can be told from what became of it. */
export type PlainSnapshot = Snapshot & { readonly listing: Listing }

export type PlainGround = Ground<"plain", PlainSnapshot> & {
  /** Takes over what a place has, where the directory is as it was in the snapshot. */
  takeOver(place: string, changes: readonly Change[], since: PlainSnapshot): void
}

const mostFiles = 100_000
const mostBytes = 1024 * 1024 * 1024

/** `without` are directories that are never copied, wherever they are. */
export function plainGround(directory: string, without: readonly string[] = []): PlainGround {
  return {
    directory,
    kind: "plain",
    async snapshot(work, folder) {
      const pristine = folder.fresh("snapshot")
      copyTree(directory, pristine, filesOf(directory, new Set(without)))
      rmSync(join(pristine, work.ledger), { force: true })
      writeFileSync(join(pristine, work.file), work.ownText)
      const listing = listFiles(pristine)
      return {
        tree: digestOf(listing),
        listing,
        async place(path) {
          copyTree(pristine, path, [...listing.keys()])
          return { path, changes: async () => changesSince(listing, listFiles(path)) }
        },
      }
    },
    takeOver: (place, changes, since) => takeOver(directory, place, changes, since.listing),
  }
}

function takeOver(
  directory: string,
  place: string,
  changes: readonly Change[],
  listing: Listing,
): void {
  const changed = changes.filter(({ path }) => factOf(directory, path) !== listing.get(path))
  if (changed.length > 0) {
    const names = changed.map(({ path }) => path).join(", ")
    throw new WorkFailure(
      `What was written could not be copied into ${directory}: meanwhile, somebody else has ` +
        `changed ${names}. Run the task again.`,
    )
  }
  for (const { path, kind } of changes) {
    const target = join(directory, path)
    rmSync(target, { force: true })
    if (kind === "written") copyEntry(join(place, path), target)
  }
}

function filesOf(directory: string, without: ReadonlySet<string>, below = ""): string[] {
  return readdirSync(join(directory, below), { withFileTypes: true }).flatMap((entry) => {
    const path = join(below, entry.name)
    if (without.has(join(directory, path))) return []
    if (entry.isDirectory()) return filesOf(directory, without, path)
    return entry.isFile() || entry.isSymbolicLink() ? [path] : []
  })
}

function copyTree(from: string, to: string, paths: readonly string[]): void {
  refuseTooMuch(from, paths)
  mkdirSync(to, { recursive: true })
  for (const path of paths) copyEntry(join(from, path), join(to, path))
}

function refuseTooMuch(directory: string, paths: readonly string[]): void {
  const sizeOf = (path: string) =>
    lstatSync(join(directory, path), { throwIfNoEntry: false })?.size ?? 0
  const bytes = paths.reduce((sum, path) => sum + sizeOf(path), 0)
  if (paths.length <= mostFiles && bytes <= mostBytes) return
  throw new WorkFailure(
    `${directory} is too large to be copied for every trial (${paths.length} files, ` +
      `${Math.ceil(bytes / 1_048_576)} MiB): make it a git repository, or use a smaller directory.`,
  )
}

function copyEntry(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  try {
    if (lstatSync(from).isSymbolicLink()) symlinkSync(readlinkSync(from), to)
    else copyFileSync(from, to, constants.COPYFILE_FICLONE)
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error // somebody has just removed it
  }
}

function listFiles(directory: string): Listing {
  const paths = filesOf(directory, new Set()).toSorted()
  return new Map(paths.map((path) => [path, factOf(directory, path) ?? ""]))
}

function factOf(directory: string, path: string): string | undefined {
  const stat = lstatSync(join(directory, path), { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  if (stat.isSymbolicLink()) return `link ${readlinkSync(join(directory, path))}`
  if (!stat.isFile()) return "other"
  const hash = createHash("sha256")
    .update(readFileSync(join(directory, path)))
    .digest("hex")
  return `${(stat.mode & 0o111) === 0 ? "file" : "program"} ${hash}`
}

function digestOf(listing: Listing): string {
  return createHash("sha256")
    .update(JSON.stringify([...listing]))
    .digest("hex")
}

function changesSince(before: Listing, now: Listing): Change[] {
  const removed = [...before.keys()].filter((path) => !now.has(path))
  const written = [...now].filter(([path, fact]) => before.get(path) !== fact)
  return [
    ...removed.map((path): Change => ({ path, kind: "removed" })),
    ...written.map(([path]): Change => ({ path, kind: "written" })),
  ]
}
