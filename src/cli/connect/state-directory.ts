import { accessSync, closeSync, constants, mkdirSync, openSync } from "node:fs"
import { tryLock } from "../../service/os/libc.ts"
import { giveToOwnerOfFolder } from "../../service/storage/state-directory.ts"
import { orFail } from "../failure.ts"

/** For its owner only, where there is none yet. */
export function makeStateDirectory(path: string): void {
  const say = (errno: string) =>
    `The state directory ${path} cannot be used (${errno}). ` +
    "Choose another with --state-dir, or make it writable for this user."
  orFail(() => {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  }, say)
}

/** Excludes other commands that would do the same to a state directory; null when one does. */
export function tryCommandLock(path: string): Disposable | null {
  const fd = openSync(path, "a", 0o600)
  giveToOwnerOfFolder(path)
  if (tryLock(fd)) return { [Symbol.dispose]: () => closeSync(fd) }
  closeSync(fd)
  return null
}
