import { closeSync, constants, openSync } from "node:fs"
import { delay } from "../../lib/delay.ts"
import { tryLock } from "./libc.ts"

const pollMs = 5
const limitMs = 60_000

/**
 * Runs alone among all that lock the same directory. Nothing is left behind by that, and whoever is
 * killed holds nothing any more. Null where another has held it for too long.
 */
export async function inDirectoryLock<Value>(
  path: string,
  use: () => Promise<Value>,
): Promise<{ value: Value } | null> {
  const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const deadlineMs = performance.now() + limitMs
    while (!tryLock(directory)) {
      if (performance.now() > deadlineMs) return null
      await delay(pollMs)
    }
    return { value: await use() }
  } finally {
    closeSync(directory)
  }
}
