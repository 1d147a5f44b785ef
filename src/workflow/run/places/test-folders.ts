import { readdirSync } from "node:fs"
import { join } from "node:path"
import { leftByPrograms } from "../../plan/named-files.ts"

const mostFolders = 10_000

/** Where tests are kept, by the names of folders; what is in one of them belongs to it. */
export function testFoldersIn(directory: string): string[] {
  const found: string[] = []
  const waiting = [""]
  for (let seen = 0; waiting.length > 0 && seen < mostFolders; seen += 1) {
    const below = waiting.shift() ?? ""
    for (const entry of readdirSync(join(directory, below), { withFileTypes: true })) {
      if (!entry.isDirectory() || leftByPrograms.has(entry.name)) continue
      const path = join(below, entry.name)
      if (/^(?:tests?|__tests__|specs?|e2e)$/i.test(entry.name)) found.push(path)
      else waiting.push(path)
    }
  }
  return found
}
