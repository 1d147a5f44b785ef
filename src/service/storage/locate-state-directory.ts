import { lstatSync, mkdirSync, readlinkSync, type Stats } from "node:fs"
import { dirname, join } from "node:path"
import { errnoOf, isErrno } from "../../lib/errno.ts"
import { fail, ok, type Result } from "../../lib/result.ts"

/** Where a state directory really is, and whose; `absent` has the path that it would have. */
export type LocatedDirectory =
  | { kind: "absent"; path: string; parent: { path: string; uid: number } }
  | { kind: "own"; path: string }
  | { kind: "not-a-directory"; path: string }
  | ForeignDirectory
export type ForeignDirectory = { kind: "foreign"; path: string; uid: number; gid: number }

const mostLinks = 40

type Link = { path: string; uid: number }
type Walked = { path: string; links: Link[]; nearest: string; stat: Stats; isThere: boolean }

/**
 * Follows the links on the way to a state directory once; what it answers has none. A link may be
 * root's or the caller's. Anybody else's could lead the caller into a directory where files of
 * these names mean something different; it is followed only into a directory of its own owner,
 * which is treated as a stranger's. The failure is a sentence.
 */
export function locateStateDirectory(path: string): Result<LocatedDirectory, string> {
  const walked = walk(path)
  if (!walked.ok) return walked
  const { path: real, links, nearest, stat, isThere } = walked.value
  const caller = process.geteuid?.() ?? stat.uid
  const owner = isThere ? stat.uid : caller
  const foreign = links.find(({ uid }) => uid !== 0 && uid !== caller && uid !== owner)
  if (foreign !== undefined) {
    return fail(
      `The state directory ${path} is not used: ${foreign.path} on the way to it is a link of ` +
        `user ${foreign.uid}, who could lead you anywhere. Name the directory itself: ${real}.`,
    )
  }
  if (!isThere) {
    return ok({ kind: "absent", path: real, parent: { path: nearest, uid: stat.uid } })
  }
  if (!stat.isDirectory()) return ok({ kind: "not-a-directory", path: real })
  if (owner === caller) return ok({ kind: "own", path: real })
  return ok({ kind: "foreign", path: real, uid: owner, gid: stat.gid })
}

/** A directory of the caller's own, made for its owner only where there is none. */
export function makeOwnDirectory(path: string): Result<string, string> {
  const located = locateStateDirectory(path)
  if (!located.ok) return located
  const unusable = whyNotOwn(located.value)
  if (unusable !== null) return fail(unusable)
  if (located.value.kind !== "absent") return ok(located.value.path)
  const { path: real, parent } = located.value
  if (process.geteuid?.() === 0 && parent.uid !== 0) {
    return fail(
      `The state directory ${real} would be root's, in a directory of user ${parent.uid} ` +
        `(${parent.path}). Run this as that user, or choose another directory with --state-dir.`,
    )
  }
  try {
    makeEach(parent.path, real)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(
      `The state directory ${real} cannot be used (${errno}). ` +
        "Choose another with --state-dir, or make it writable for this user.",
    )
  }
  const made = locateStateDirectory(real)
  if (!made.ok) return made
  if (made.value.kind === "own") return ok(made.value.path)
  return fail(`The state directory ${real} was replaced while it was being made. Try again.`)
}

/** Why nothing may be written there, nor a service started; null where it may. */
export function whyNotOwn(located: LocatedDirectory): string | null {
  switch (located.kind) {
    case "absent":
    case "own":
      return null
    case "not-a-directory":
      return `${located.path} is not a directory. Choose another one with --state-dir.`
    case "foreign":
      return notYours(located)
  }
}

function notYours({ path, uid, gid }: ForeignDirectory): string {
  const caller = process.geteuid?.() ?? "unknown"
  const how =
    caller === 0 ? ` (setpriv --reuid=${uid} --regid=${gid} --clear-groups cc-executor …)` : ""
  return (
    `The state directory ${path} belongs to user ${uid}, and this is user ${caller}. ` +
    `Run this as that user${how}, or choose another directory with --state-dir.`
  )
}

function walk(path: string): Result<Walked, string> {
  let todo = partsOf(path)
  let at = "/"
  let stat = lstatSync(at)
  const links: Link[] = []
  while (todo.length > 0) {
    const [name = "", ...rest] = todo
    const next = join(at, name)
    const found = look(next)
    if (!found.ok) return fail(`The state directory ${path} cannot be used ${found.failure}`)
    if (found.value === null) {
      return ok({ path: join(next, ...rest), links, nearest: at, stat, isThere: false })
    }
    const { link } = found.value
    if (link === null) {
      at = next
      stat = found.value.stat
      todo = rest
      continue
    }
    links.push({ path: next, uid: found.value.stat.uid })
    if (links.length > mostLinks) return fail(`There are too many links on the way to ${path}.`)
    todo = [...partsOf(link), ...rest]
    if (link.startsWith("/")) at = "/"
    stat = lstatSync(at)
  }
  return ok({ path: at, links, nearest: dirname(at), stat, isThere: true })
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".")
}

type Seen = { stat: Stats; link: string | null }

/** Null where there is nothing. A link is looked at twice: it must be the one that was read. */
function look(path: string): Result<Seen | null, string> {
  try {
    for (;;) {
      const stat = lstatSync(path, { throwIfNoEntry: false })
      if (stat === undefined) return ok(null)
      if (!stat.isSymbolicLink()) return ok({ stat, link: null })
      const link = readlinkSync(path)
      const again = lstatSync(path)
      if (again.ino === stat.ino && again.ctimeMs === stat.ctimeMs) return ok({ stat, link })
    }
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    const why = errno === "ENOTDIR" ? `${dirname(path)} is not a directory` : `at ${path}`
    return fail(`(${errno}): ${why}. Choose another one with --state-dir.`)
  }
}

function makeEach(from: string, to: string): void {
  if (to === from) return
  makeEach(from, dirname(to))
  try {
    mkdirSync(to, { mode: 0o700 })
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error // another command makes it, too
  }
}
