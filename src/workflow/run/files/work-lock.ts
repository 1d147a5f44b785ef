import { closeSync, constants, openSync } from "node:fs"
import { dirname } from "node:path"
import { delay } from "../../../lib/delay.ts"
import { tryLock } from "../../../service/os/libc.ts"
import { WorkFailure } from "../work-failure.ts"

const pollMs = 5
const limitMs = 60_000

/**
 * Nobody else writes into works of that directory meanwhile. The directory itself is locked: so
 * nothing is left behind, and whoever is killed holds nothing any more.
 */
export async function lockWork<Value>(path: string, use: () => Promise<Value>): Promise<Value> {
  const directory = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    const deadlineMs = performance.now() + limitMs
    while (!tryLock(directory)) {
      if (performance.now() > deadlineMs) {
        throw new WorkFailure(
          `${dirname(path)} has been locked by another process for ${limitMs / 1000} s, so ` +
            `${path} cannot be written. Nothing is lost: \`cc-executor render\` writes it later.`,
        )
      }
      await delay(pollMs)
    }
    return await use()
  } finally {
    closeSync(directory)
  }
}
