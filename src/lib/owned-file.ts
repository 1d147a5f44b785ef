import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
} from "node:fs"
import { basename, dirname } from "node:path"
import { isErrno } from "./errno.ts"
import { UntrustedFileError, untrusted } from "./untrusted-file.ts"

/**
 * The one way to the files of a directory that others may have prepared: a state directory, say,
 * whose owner runs commands of strangers, and which root looks into.
 *
 * - The way to a file has no links: its directory is really where its path says.
 * - The directory is opened first, and the file is reached through that descriptor: whatever is
 *   renamed meanwhile, both belong together.
 * - No link is followed and no pipe waited for. What was opened is a regular file of the same owner
 *   as its directory, or it is not used.
 * - Only in a directory of one's own is anything created, changed or removed; and what is created
 *   is new.
 *
 * Paths must be absolute and without links: see `locateStateDirectory`.
 */
export type OwnedFile = Disposable & { fd: number; stat: Stats }

const { O_APPEND, O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
const { O_RDONLY, O_RDWR } = constants
/** A handle on what a path names, without opening it. The same number on x86-64 and arm64. */
const O_PATH = 0o10000000

export const openingFlags = {
  read: O_RDONLY | O_NOFOLLOW | O_NONBLOCK,
  change: O_RDWR | O_NOFOLLOW | O_NONBLOCK,
  append: O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK,
} as const
export type Access = keyof typeof openingFlags

/** Opens a file that is there. Throws ENOENT where there is none. */
export function openOwned(path: string, access: Access): OwnedFile {
  return inDirectoryOf(path, ({ entry, owner }) => {
    if (access !== "read") refuseForeign(path, owner)
    return openChecked(entry, path, openingFlags[access], owner)
  })
}

/**
 * The same for reading in a directory that was checked before, five times as fast: no link is
 * followed and no pipe waited for, but whose the file is, and where, is not asked again.
 */
export function openRegular(path: string): number {
  const fd = withoutLinks(path, () => openSync(path, openingFlags.read))
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw untrusted(path, "is not a regular file")
}

/** Opens a file that is not there yet. Throws EEXIST where there is anything of that name. */
export function createOwned(path: string, access: Exclude<Access, "read"> = "change"): OwnedFile {
  return inDirectoryOf(path, ({ entry, owner }) => {
    refuseForeign(path, owner)
    return openChecked(entry, path, openingFlags[access] | O_CREAT | O_EXCL, owner)
  })
}

/** Two may do it at once: one of them creates the file. */
export function openOrCreateOwned(path: string, access: Exclude<Access, "read">): OwnedFile {
  for (;;) {
    const file = unless("EEXIST", () => createOwned(path, access))
    const found = file ?? unless("ENOENT", () => openOwned(path, access))
    if (found !== null) return found
  }
}

/** All of a file that is read at once; null where there is none. */
export function readOwned(path: string, mostBytes: number): Buffer | null {
  const found = unless("ENOENT", () => openOwned(path, "read"))
  if (found === null) return null
  using file = found
  return readAll(file, path, mostBytes)
}

/** Whatever it grows by meanwhile is not read. */
export function readAll({ fd, stat }: OwnedFile, path: string, mostBytes: number): Buffer {
  if (stat.size > mostBytes) {
    throw untrusted(path, `is larger than ${mostBytes} bytes, so it was not written by cc-executor`)
  }
  const bytes = Buffer.alloc(stat.size)
  let length = 0
  while (length < bytes.length) {
    const read = readSync(fd, bytes, length, bytes.length - length, length)
    if (read === 0) break
    length += read
  }
  return bytes.subarray(0, length)
}

/**
 * Writes a file for its owner alone, whole or not at all: a crash leaves what was there before.
 * With `durable` it survives a loss of power.
 */
export function replaceOwned(
  path: string,
  write: (fd: number) => void,
  { durable }: { durable: boolean },
): void {
  inDirectoryOf(path, ({ entry, owner, directoryFd }) => {
    refuseForeign(path, owner)
    const draft = `${entry}.new`
    withoutLinks(`${path}.new`, () => rmSync(draft, { force: true })) // what a crash left
    try {
      using file = openChecked(draft, `${path}.new`, openingFlags.change | O_CREAT | O_EXCL, owner)
      write(file.fd)
      if (durable) fsyncSync(file.fd)
      renameSync(draft, entry)
      if (durable) syncDirectory(directoryFd)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  })
}

/** False where there is nothing of that name. A link is removed itself, never what it leads to. */
export function removeOwned(path: string): boolean {
  try {
    return inDirectoryOf(path, ({ entry, owner }) => {
      refuseForeign(path, owner)
      rmSync(entry)
      return true
    })
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return false
  }
}

/** Within one directory. What has the new name is replaced; a link itself, not what it leads to. */
export function renameOwned(from: string, to: string): void {
  inDirectoryOf(from, ({ entry, owner, directoryFd }) => {
    refuseForeign(from, owner)
    renameSync(entry, `/proc/self/fd/${directoryFd}/${basename(to)}`)
  })
}

/** Keeps everybody else out of a directory of one's own. */
export function closeToOthers(directory: string): void {
  inDirectoryOf(`${directory}/.`, ({ owner, directoryFd }) => {
    refuseForeign(directory, owner)
    chmodSync(`/proc/self/fd/${directoryFd}`, 0o700)
  })
}

/** A directory that is no link, and of the same owner as the one it is in. */
export function checkOwnedDirectory(path: string): void {
  inDirectoryOf(path, ({ entry, owner }) => {
    using file = handle(entry)
    if (!file.stat.isDirectory()) throw untrusted(path, `is ${kindOf(file.stat)}, not a directory`)
    if (file.stat.uid !== owner) throw untrusted(path, `belongs to user ${file.stat.uid}`)
  })
}

/** For programs that open files by path, and more than they are told to, as SQLite does. */
export function mustOwnDirectoryOf(path: string): void {
  inDirectoryOf(path, ({ owner }) => refuseForeign(path, owner))
}

/** A regular file as far as can be told without opening it; false where there is none. */
export function checkOwnedFile(path: string): boolean {
  const found = unless("ENOENT", () =>
    inDirectoryOf(path, ({ entry, owner }) => {
      using file = handle(entry)
      checkOwner(file.stat, path, owner)
      return true
    }),
  )
  return found ?? false
}

/**
 * A handle on a socket's file, of the same owner as its directory. Connecting to
 * `/proc/self/fd/N` reaches this very socket, whatever its name has come to mean.
 */
export function pinOwnedSocket(path: string): OwnedFile {
  return inDirectoryOf(path, ({ entry, owner }) => {
    const file = handle(entry)
    const { stat } = file
    if (stat.isSocket() && stat.uid === owner) return file
    file[Symbol.dispose]()
    if (!stat.isSocket()) throw untrusted(path, `is ${kindOf(stat)}, not a socket`)
    throw untrusted(path, `belongs to user ${stat.uid}, its directory to user ${owner}`)
  })
}

type Place = { entry: string; owner: number; directoryFd: number }

function inDirectoryOf<Value>(path: string, use: (place: Place) => Value): Value {
  const directory = dirname(path)
  using place = openDirectory(directory, path)
  const { fd, stat } = place
  // Named in full by the kernel: any link on the way would show.
  const real = readlinkSync(`/proc/self/fd/${fd}`)
  if (real !== directory) {
    if (stat.nlink === 0) throw Object.assign(new Error(`${directory} is gone`), { code: "ENOENT" })
    throw untrusted(path, `is not in ${directory} but in ${real}: something on the way is a link`)
  }
  const entry = `/proc/self/fd/${fd}/${basename(path)}`
  return use({ entry, owner: stat.uid, directoryFd: fd })
}

function openDirectory(directory: string, path: string): OwnedFile {
  try {
    const fd = openSync(directory, O_PATH | O_DIRECTORY | O_NOFOLLOW)
    return { fd, stat: fstatSync(fd), [Symbol.dispose]: () => closeSync(fd) }
  } catch (error) {
    // A link and O_DIRECTORY: the kernel says that it is no directory.
    if (isErrno(error, "ENOTDIR", "ELOOP")) {
      throw untrusted(path, `cannot be used: ${directory} is a link, or not a directory`)
    }
    throw error
  }
}

/** On a link, too: on the link itself. */
function handle(entry: string): OwnedFile {
  const fd = openSync(entry, O_PATH | O_NOFOLLOW)
  return { fd, stat: fstatSync(fd), [Symbol.dispose]: () => closeSync(fd) }
}

function openChecked(entry: string, path: string, flags: number, owner: number): OwnedFile {
  const fd = withoutLinks(path, () => openSync(entry, flags, 0o600))
  const stat = fstatSync(fd)
  try {
    checkOwner(stat, path, owner)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  return { fd, stat, [Symbol.dispose]: () => closeSync(fd) }
}

function withoutLinks<Value>(path: string, use: () => Value): Value {
  try {
    return use()
  } catch (error) {
    if (isErrno(error, "ELOOP")) throw untrusted(path, "is a symbolic link")
    if (isErrno(error, "ENXIO", "EISDIR", "ERR_FS_EISDIR")) {
      throw untrusted(path, "is not a regular file")
    }
    throw error
  }
}

function checkOwner(stat: Stats, path: string, owner: number): void {
  if (!stat.isFile()) throw untrusted(path, `is ${kindOf(stat)}, not a regular file`)
  if (stat.uid === owner) return
  throw untrusted(path, `belongs to user ${stat.uid}, its directory to user ${owner}`)
}

function refuseForeign(path: string, owner: number): void {
  const user = process.geteuid?.() ?? owner
  if (owner === user) return
  const why = `is in a directory of user ${owner}, where user ${user} changes nothing`
  throw new UntrustedFileError(`${path} ${why}. Run this as user ${owner}.`)
}

function kindOf(stat: Stats): string {
  if (stat.isSymbolicLink()) return "a symbolic link"
  if (stat.isFIFO()) return "a named pipe"
  if (stat.isSocket()) return "a socket"
  if (stat.isDirectory()) return "a directory"
  return stat.isFile() ? "a regular file" : "a device"
}

/** Null where the system has this one reason not to. */
function unless<Value>(code: string, work: () => Value): Value | null {
  try {
    return work()
  } catch (error) {
    if (!isErrno(error, code)) throw error
    return null
  }
}

function syncDirectory(handleFd: number): void {
  const fd = openSync(`/proc/self/fd/${handleFd}/.`, O_RDONLY | O_DIRECTORY)
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
