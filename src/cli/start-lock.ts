import { closeSync, openSync } from "node:fs"
import { tryLock } from "../process/libc.ts"

/** Excludes others who would start a service for the same directory; null when one has it. */
export function tryStartLock(path: string): Disposable | null {
  const fd = openSync(path, "a", 0o600)
  if (tryLock(fd)) return { [Symbol.dispose]: () => closeSync(fd) }
  closeSync(fd)
  return null
}
