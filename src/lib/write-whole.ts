import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs"
import { dirname } from "node:path"

/**
 * Writes a file of its owner's alone, whole or not at all: a crash leaves what was there before,
 * and no half of it that somebody would stumble over. It survives a loss of power. The draft is
 * ours to remove: where others keep files, too, it needs a name that none of them would choose.
 */
export function writeWhole(
  path: string,
  write: (file: number) => void,
  draft = `${path}.new`,
): void {
  try {
    rmSync(draft, { force: true })
    synced(openSync(draft, "wx", 0o600), write)
    renameSync(draft, path)
    synced(openSync(dirname(path), "r"), () => undefined)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/** Appends to a file of that size, whole or not at all: the disk may fill up inside a line. */
export function appendWhole(file: number, bytes: Uint8Array, size: number): void {
  let written = 0
  try {
    while (written < bytes.length) written += writeSync(file, bytes, written)
  } catch (error) {
    if (written > 0) ftruncateSync(file, size)
    throw error
  }
}

function synced(file: number, use: (file: number) => void): void {
  try {
    use(file)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
