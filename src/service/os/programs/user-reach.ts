import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { mayAccess, type RunAs } from "../../../execution/run-as.ts"

type User = Pick<RunAs, "uid" | "gid">

/** The first directory on the way that the user may not enter, itself included; else null. */
export function unreachableFor(user: User, directory: string): string | null {
  const way = ancestors(realpathSync(directory))
  return way.find((on) => !mayAccess(user, statSync(on), "execute")) ?? null
}

/** By what the user could change a file, or put another in its place; null when by nothing. */
export function changeableBy(user: User, path: string): string | null {
  return firstOnTheWay(path, (stat) => {
    if (stat.uid === user.uid) return `belongs to uid ${user.uid}`
    return mayAccess(user, stat, "write") ? `is writable by uid ${user.uid}` : null
  })
}

/** The same for everybody but root and one user, whose own the file is. */
export function changeableByOthers(owner: number, path: string): string | null {
  return firstOnTheWay(path, ({ uid, gid, mode }) => {
    if (uid !== 0 && uid !== owner) return `belongs to uid ${uid}`
    if ((mode & 0o002) !== 0) return "is writable by everybody"
    return (mode & 0o020) === 0 ? null : `is writable by group ${gid}`
  })
}

const sticky = 0o1000

/** Where the path stands, and wherever its links lead on from there: all of it must hold. */
function firstOnTheWay(path: string, judge: (stat: Stats) => string | null): string | null {
  for (const way of waysTo(resolve(path))) {
    for (const on of ancestors(way).toReversed()) {
      const stat = lstatSync(on)
      if (stat.isSymbolicLink()) continue // its mode means nothing: its directory's counts
      // In a sticky directory an entry can be replaced by its owner or the directory's only.
      const isSticky = stat.isDirectory() && (stat.mode & sticky) !== 0
      const why = judge(isSticky ? withoutForeignWrite(stat) : stat)
      if (why !== null) return `${on} ${why}`
    }
  }
  return null
}

function withoutForeignWrite(stat: Stats): Stats {
  stat.mode &= ~0o022
  return stat
}

/** The path, and what becomes of it link by link; the kernel has opened it, so there is an end. */
function waysTo(path: string): string[] {
  const link = ancestors(path).find((on) => lstatSync(on).isSymbolicLink())
  if (link === undefined) return [path]
  const target = resolve(dirname(link), readlinkSync(link))
  return [path, ...waysTo(join(target, path.slice(link.length)))]
}

export function cannotReach(user: RunAs, path: string): string {
  return `${path} is closed to ${user.user ?? `uid ${user.uid}`}, the user that commands run as`
}

/** From the root down to the path itself. */
export function ancestors(path: string): string[] {
  const parent = dirname(path)
  return parent === path ? [path] : [...ancestors(parent), path]
}
