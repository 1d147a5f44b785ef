import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import { errnoOf } from "../../lib/errno.ts"
import { allPids, readStat } from "../../service/os/proc.ts"

const O_ACCMODE = 3
const O_WRONLY = 1

/**
 * Whether a process that was started beside this one writes to a pipe, as in `producer | us`: then
 * its end will come. An open pipe may as well be what an editor gives all its children.
 */
export function isFedBySibling(fd: number): boolean {
  const pipe = readlinkSync(`/proc/self/fd/${fd}`)
  if (!pipe.startsWith("pipe:")) return false
  const parent = readStat(process.pid)?.parent
  const siblings = allPids().filter(
    (pid) => pid !== process.pid && readStat(pid)?.parent === parent,
  )
  return siblings.some((pid) => orNothing(() => writesTo(pid, pipe)))
}

function writesTo(pid: number, pipe: string): boolean {
  return readdirSync(`/proc/${pid}/fd`).some((fd) => {
    if (readlinkSync(`/proc/${pid}/fd/${fd}`) !== pipe) return false
    const [, flags = "0"] = /^flags:\s*(\d+)$/m.exec(infoOf(pid, fd)) ?? []
    return (Number.parseInt(flags, 8) & O_ACCMODE) === O_WRONLY
  })
}

function infoOf(pid: number, fd: string): string {
  return readFileSync(`/proc/${pid}/fdinfo/${fd}`, "utf8")
}

/** Processes end while they are looked at, and others are not ours to look at. */
function orNothing(look: () => boolean): boolean {
  try {
    return look()
  } catch (error) {
    if (errnoOf(error) === null) throw error
    return false
  }
}
