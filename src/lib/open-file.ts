import { closeSync, openSync } from "node:fs"

/** A file that is open until it is disposed. */
export function openFile(path: string, flags: string | number): Disposable & { fd: number } {
  const fd = openSync(path, flags)
  return { fd, [Symbol.dispose]: () => closeSync(fd) }
}
