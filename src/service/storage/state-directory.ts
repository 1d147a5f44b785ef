import {
  closeSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  statfsSync,
  writeFileSync,
  writeSync,
} from "node:fs"
import { isErrno, messageOf } from "../../lib/errno.ts"
import {
  checkOwnedDirectory,
  checkOwnedFile,
  closeToOthers,
  createOwned,
  openOrCreateOwned,
  openOwned,
  pinOwnedSocket,
  readOwned,
  removeOwned,
} from "../../lib/owned-file.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { isFileTrouble, UntrustedFileError } from "../../lib/untrusted-file.ts"
import { makeOwnDirectory } from "./locate-state-directory.ts"
import type { LockText } from "./lock-text.ts"
import { type StatePaths, stateEntriesOf, statePathsIn } from "./state-paths.ts"
import { migrateState } from "./state-schema.ts"

export type StateDirectory = Disposable & {
  path: string
  paths: StatePaths
  /** Holds the lock: who has it open holds the directory. */
  lockFd: number
  freeBytes(): number
  /** Of the disk that the directory is on. */
  space(): { freeBytes: number; sizeBytes: number }
  /** Infinite where the file system has no fixed number of them. */
  freeInodes(): number
  /** Gives the space held in reserve back, so that what must be written can be. */
  dropBallast(): void
  /** Takes it again once there is plenty. */
  restoreBallast(): void
  /** Takes what is left of it again at once. */
  retakeBallast(): void
}

/**
 * Opens the directory, which must be this user's own, for this process alone. The failure is a
 * sentence for whoever started it.
 */
export function openStateDirectory(
  given: string,
  owner: Omit<LockText, "upgrades">,
  ballastBytes: number,
  tryLock: (fd: number) => boolean,
  handedLockFd: number | null,
): Result<StateDirectory, string> {
  const own = makeOwnDirectory(given)
  if (!own.ok) return own
  const path = own.value
  const paths = statePathsIn(path)
  let lockFd: number
  try {
    closeToOthers(path)
    makeAndCheckEntries(paths)
    lockFd = handedLockFd ?? openOrCreateOwned(paths.lock, "append").fd
  } catch (error) {
    if (error instanceof UntrustedFileError) return fail(error.message)
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
    const text: LockText = { ...owner, upgrades: true }
    writeSync(lockFd, JSON.stringify(text))
    directory.restoreBallast()
  } catch (error) {
    giveUp()
    if (error instanceof UntrustedFileError) return fail(error.message)
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
  const freeInodes = () => {
    const { files, ffree } = statfsSync(path)
    return files === 0 ? Infinity : ffree
  }
  return {
    path,
    paths,
    lockFd,
    freeBytes,
    space,
    freeInodes,
    dropBallast: () => removeOwned(ballast),
    restoreBallast() {
      if (freeBytes() >= ballastBytes * 2) holdBallast(ballast, ballastBytes)
    },
    retakeBallast: () => holdBallast(ballast, Math.min(ballastBytes, freeBytes())),
    [Symbol.dispose]() {
      // The socket's file is the gateway's; should that have been killed, it is ours to tidy.
      removeOwned(socket)
      // The lock's file stays: whoever waits for it may have it open already.
      ftruncateSync(lockFd, 0)
      closeSync(lockFd)
    },
  }
}

/** Why a directory that is in use could not be opened anew; null where it could. */
export function entryProblem(paths: StatePaths): string | null {
  try {
    makeAndCheckEntries(paths)
    return null
  } catch (error) {
    if (!isFileTrouble(error)) throw error
    return messageOf(error)
  }
}

/** Whatever stands where something of ours belongs is found now, and not when it is needed. */
function makeAndCheckEntries(paths: StatePaths): void {
  const { directories, files, sockets } = stateEntriesOf(paths)
  for (const path of directories) makeDirectory(path)
  for (const path of files) checkOwnedFile(path)
  for (const path of sockets) if (isAnythingAt(path)) pinOwnedSocket(path)[Symbol.dispose]()
}

function isAnythingAt(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!isErrno(error, "EEXIST")) throw error
  }
  checkOwnedDirectory(path)
}

function holdBallast(path: string, bytes: number): void {
  if (heldBytes(path) >= bytes) return
  removeOwned(path)
  using file = createOwned(path)
  try {
    // Zeros that are written hold the space; a hole would not.
    writeFileSync(file.fd, new Uint8Array(bytes))
  } catch (error) {
    if (!isErrno(error, "ENOSPC", "EDQUOT")) throw error // somebody else took it: held is held
  }
}

function heldBytes(path: string): number {
  if (!checkOwnedFile(path)) return 0
  using file = openOwned(path, "read")
  return file.stat.size
}

const mostLockBytes = 64 * 1024

function holder(lockPath: string): string {
  const text = readOwned(lockPath, mostLockBytes)?.toString("utf8") ?? ""
  const pid = /"pid":(\d+)/.exec(text)?.[1]
  return pid === undefined ? "" : ` (pid ${pid})`
}
