import { closeSync, openSync } from "node:fs"
import { tryLock } from "../../service/os/libc.ts"
import { giveToOwnerOfFolder } from "../../service/storage/give-to-owner.ts"

/** Excludes other commands that would do the same to a state directory; null when one does. */
export function tryCommandLock(path: string): Disposable | null {
  const fd = openSync(path, "a", 0o600)
  giveToOwnerOfFolder(path)
  if (tryLock(fd)) return { [Symbol.dispose]: () => closeSync(fd) }
  closeSync(fd)
  return null
}
