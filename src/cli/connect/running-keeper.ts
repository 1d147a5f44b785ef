import { isErrno } from "../../lib/errno.ts"
import { type OwnedFile, openOwned, readAll } from "../../lib/owned-file.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { holdsFlock, isAlive, readStat, userOf } from "../../service/os/proc.ts"
import { LockText } from "../../service/storage/lock-text.ts"
import { CommandFailure } from "../failure.ts"

export type RunningKeeper = LockText

/** Why the process that a lock names is not its service. */
type FalseClaim = { pid: number; why: string }
type Holder = { keeper: RunningKeeper } | { keeper: null; claim: FalseClaim | null }

/** The process that holds a state directory; null when there is none. */
export function runningKeeper(lockPath: string): RunningKeeper | null {
  return holderOf(lockPath).keeper
}

/**
 * What to say where none is. A lock that names a process which does not hold it was not written by
 * that process.
 */
export function notRunningText(directory: string, lockPath: string): string {
  const claim = falseClaim(lockPath)
  const none = `No service is running for ${directory}`
  return claim === null ? `${none}.` : `${none}: ${claim}. Nothing was done to that process.`
}

/** Null unless a lock names a process that is not the directory's service. */
export function falseClaim(lockPath: string): string | null {
  const holder = holderOf(lockPath)
  if (holder.keeper !== null || holder.claim === null) return null
  const { pid, why } = holder.claim
  return `its lock names pid ${pid}, but ${why}`
}

const mostBytes = 64 * 1024

/**
 * By what a keeper wrote into its lock, and by what the kernel says of the process that is named
 * there: anybody who can write the file can write any pid. To try the lock itself would be to hold
 * it for a moment, and a service that starts just then would take itself for the second one.
 */
function holderOf(lockPath: string): Holder {
  const opened = openLock(lockPath)
  if (opened === null) return { keeper: null, claim: null }
  using file = opened
  // Empty after an orderly end, half written for an instant after a start.
  const text = readAll(file, lockPath, mostBytes).toString("utf8")
  const { data: keeper } = LockText.safeParse(tryParseJson(text))
  if (keeper === undefined) return { keeper: null, claim: null }
  const { pid, startTicks } = keeper
  const stat = readStat(pid)
  if (!isAlive(stat) || stat.startTicks !== startTicks) return { keeper: null, claim: null }
  if (userOf(pid) !== file.stat.uid) {
    return { keeper: null, claim: { pid, why: "that process belongs to another user" } }
  }
  if (!holdsFlock(pid, file.stat.ino)) {
    return { keeper: null, claim: { pid, why: "that process does not hold the lock" } }
  }
  return { keeper }
}

function openLock(path: string): OwnedFile | null {
  try {
    return openOwned(path, "read")
  } catch (error) {
    if (isErrno(error, "ENOENT", "ENOTDIR")) return null
    if (isErrno(error, "EACCES")) {
      throw new CommandFailure(
        `${path} cannot be read: the state directory belongs to another user. ` +
          "Run this as that user, or choose another directory with --state-dir.",
      )
    }
    throw error
  }
}

const pollMs = 20

/** Waits until a keeper has let go of its directory, and has ended; false when not by then. */
export async function keeperEnd(
  lockPath: string,
  keeper: RunningKeeper,
  limitMs: number,
): Promise<boolean> {
  const deadlineMs = performance.now() + limitMs
  for (;;) {
    const now = runningKeeper(lockPath)
    const isOver = now === null || now.pid !== keeper.pid || now.startTicks !== keeper.startTicks
    if (isOver && !isRunning(keeper)) return true
    if (performance.now() > deadlineMs) return false
    await Bun.sleep(pollMs)
  }
}

function isRunning({ pid, startTicks }: RunningKeeper): boolean {
  const stat = readStat(pid)
  return isAlive(stat) && stat.startTicks === startTicks
}
