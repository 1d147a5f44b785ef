import { createHash } from "node:crypto"
import { closeSync, fstatSync, mkdirSync, openSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { tryLock } from "../../service/os/libc.ts"
import { WorkFailure } from "./work-failure.ts"
import type { World } from "./world.ts"

/**
 * One runner at a time does what stands in a list: each task or fix begins with what those before
 * it have done, on one branch. Whoever is killed holds nothing any more.
 */
export function lockRunOf({ places }: World, path: string): Disposable {
  const folder = join(dirname(places), "locks")
  const name = createHash("sha256").update(path).digest("hex").slice(0, 32)
  const file = join(folder, name)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (;;) {
    const lock = openSync(file, "a", 0o600)
    if (!tryLock(lock)) {
      closeSync(lock)
      throw new WorkFailure(`Another run of ${path} is under way: wait until it has ended.`)
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
