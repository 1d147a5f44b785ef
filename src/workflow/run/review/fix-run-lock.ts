import { createHash } from "node:crypto"
import { closeSync, fstatSync, mkdirSync, openSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { tryLock } from "../../../service/os/libc.ts"
import { WorkFailure } from "../work-failure.ts"
import type { World } from "../world.ts"

/**
 * One runner at a time puts right what stands in a list: each fix begins with what those before it
 * have done. Whoever is killed holds nothing any more.
 */
export function lockFixRun({ places }: World, path: string): Disposable {
  const folder = join(dirname(places), "locks")
  const name = createHash("sha256").update(path).digest("hex").slice(0, 32)
  const file = join(folder, name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (;;) {
    const lock = openSync(file, "a", 0o600)
    if (!tryLock(lock)) {
      closeSync(lock)
      throw new WorkFailure(
        `Somebody else is putting right what stands in ${path}: wait until that has ended.`,
      )
    }
    // It may have been removed by whoever held it a moment ago.
    if (fstatSync(lock).nlink === 0) {
      closeSync(lock)
      continue
    }
    return {
      [Symbol.dispose]() {
        rmSync(file, { force: true })
        closeSync(lock)
      },
    }
  }
}
