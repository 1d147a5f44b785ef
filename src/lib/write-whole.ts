import { closeSync, fsyncSync, openSync, renameSync, rmSync } from "node:fs"
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

function synced(file: number, use: (file: number) => void): void {
  try {
    use(file)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
