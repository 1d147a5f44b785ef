import { closeSync, openSync } from "node:fs"
import { giveToOwnerOfFolder } from "../files/give-to-owner.ts"
import { tryLock } from "../process/libc.ts"

/** Excludes other commands that would do the same to a state directory; null when one does. */
export function tryCommandLock(path: string): Disposable | null {
  const fd = openSync(path, "a", 0o600)
  giveToOwnerOfFolder(path)
  if (tryLock(fd)) return { [Symbol.dispose]: () => closeSync(fd) }
  closeSync(fd)
  return null
}
