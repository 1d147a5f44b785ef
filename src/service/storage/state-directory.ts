import {
  chmodSync,
  chownSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { dirname } from "node:path"
import { isErrno, messageOf } from "../../lib/errno.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { type StatePaths, statePathsIn } from "./state-paths.ts"
import { migrateState } from "./state-schema.ts"

export type StateDirectory = Disposable & {
  path: string
  paths: StatePaths
  /** Holds the lock: who has it open holds the directory. */
  lockFd: number
  freeBytes(): number
  /** Of the disk that the directory is on. */
  space(): { freeBytes: number; sizeBytes: number }
  /** Gives the space held in reserve back, so that what must be written can be. */
  dropBallast(): void
  /** Takes it again once there is plenty. */
  restoreBallast(): void
  /** Takes what is left of it again at once. */
  retakeBallast(): void
}

/** Opens the directory for this process alone. The failure is a sentence for whoever started it. */
export function openStateDirectory(
  path: string,
  owner: { pid: number; startTicks: number; version: string; startedAt: string },
  ballastBytes: number,
  tryLock: (fd: number) => boolean,
  handedLockFd: number | null,
): Result<StateDirectory, string> {
  const paths = statePathsIn(path)
  let lockFd: number
  try {
    mkdirSync(paths.transcripts, { recursive: true, mode: 0o700 })
    chmodSync(path, 0o700)
    lockFd = handedLockFd ?? openSync(paths.lock, "a+", 0o600)
  } catch (error) {
    const why = messageOf(error)
    return fail(
      `The state directory ${path} cannot be used: ${why}. ` +
        "Choose another one with --state-dir, or make it writable for this user.",
    )
  }
  if (!tryLock(lockFd)) {
    closeSync(lockFd)
    return fail(
      `The state directory ${path} is in use by another instance${holder(paths.lock)}. ` +
        "End that one with `cc-executor stop`, or choose another directory with --state-dir.",
    )
  }
  const directory = lockedDirectory(paths, lockFd, ballastBytes)
  // A lock that was handed over belongs to whoever goes on, which may be the program before this.
  const giveUp = () => handedLockFd === null && directory[Symbol.dispose]()
  try {
    // What a start must write has room then; housekeeping takes the reserve back when it can.
    if (directory.freeBytes() < ballastBytes) directory.dropBallast()
    const migrated = migrateState(path, owner.version)
    if (!migrated.ok) {
      giveUp()
      return migrated
    }
    ftruncateSync(lockFd, 0)
    writeSync(lockFd, JSON.stringify({ ...owner, upgrades: true }))
    directory.restoreBallast()
  } catch (error) {
    giveUp()
    const why = messageOf(error)
    return fail(`The state directory ${path} cannot be written: ${why}.`)
  }
  return ok(directory)
}

function lockedDirectory(paths: StatePaths, lockFd: number, ballastBytes: number): StateDirectory {
  const { directory: path, ballast, socket } = paths
  const space = () => {
    const { bavail, blocks, bsize } = statfsSync(path)
    return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  }
  const freeBytes = () => space().freeBytes
  return {
    path,
    paths,
    lockFd,
    freeBytes,
    space,
    dropBallast: () => rmSync(ballast, { force: true }),
    restoreBallast() {
      if (freeBytes() >= ballastBytes * 2) holdBallast(ballast, ballastBytes)
    },
    retakeBallast: () => holdBallast(ballast, Math.min(ballastBytes, freeBytes())),
    [Symbol.dispose]() {
      // The socket's file is the gateway's; should that have been killed, it is ours to tidy.
      rmSync(socket, { force: true })
      // The lock's file stays: whoever waits for it may have it open already.
      ftruncateSync(lockFd, 0)
      closeSync(lockFd)
    },
  }
}

function holdBallast(path: string, bytes: number): void {
  const held = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (held >= bytes) return
  try {
    // Zeros that are written hold the space; a hole would not.
    writeFileSync(path, new Uint8Array(bytes), { mode: 0o600 })
  } catch (error) {
    if (!isErrno(error, "ENOSPC", "EDQUOT")) throw error // somebody else took it: held is held
  }
}

function holder(lockPath: string): string {
  try {
    const pid = /"pid":(\d+)/.exec(readFileSync(lockPath, "utf8"))?.[1]
    return pid === undefined ? "" : ` (pid ${pid})`
  } catch {
    return "" // it ended this very moment: trying again is all there is to say
  }
}

/** What root writes into somebody's folder is theirs to read, and to remove. */
export function giveToOwnerOfFolder(path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  if (uid !== 0) chownSync(path, uid, gid)
}
