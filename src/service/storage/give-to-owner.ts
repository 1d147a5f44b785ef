import { chownSync, statSync } from "node:fs"
import { dirname } from "node:path"

/** What root writes into somebody's folder is theirs to read, and to remove. */
export function giveToOwnerOfFolder(path: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(dirname(path))
  if (uid !== 0) chownSync(path, uid, gid)
}
