import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export function temporaryFolder(): Disposable & { path: string } {
  const path = mkdtempSync(join(tmpdir(), "cc-executor-folder-"))
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}
