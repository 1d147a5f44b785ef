import { accessSync, closeSync, constants, mkdirSync, openSync } from "node:fs"
import { errnoOf } from "../../lib/errno.ts"
import { tryLock } from "../../service/os/libc.ts"
import { giveToOwnerOfFolder } from "../../service/storage/state-directory.ts"
import { CommandFailure } from "../failure.ts"

/** For its owner only, where there is none yet. */
export function makeStateDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new CommandFailure(
      `The state directory ${path} cannot be used (${errno}). ` +
        "Choose another with --state-dir, or make it writable for this user.",
    )
  }
}

/** Excludes other commands that would do the same to a state directory; null when one does. */
export function tryCommandLock(path: string): Disposable | null {
  const fd = openSync(path, "a", 0o600)
  giveToOwnerOfFolder(path)
  if (tryLock(fd)) return { [Symbol.dispose]: () => closeSync(fd) }
  closeSync(fd)
  return null
}
