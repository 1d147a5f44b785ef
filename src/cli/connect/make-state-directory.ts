import { accessSync, constants, mkdirSync } from "node:fs"
import { errnoOf } from "../../lib/errno.ts"
import { CommandFailure } from "../failure.ts"

/** For its owner only, where there is none yet. */
export function makeStateDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    throw new CommandFailure(
      `The state directory ${path} cannot be used (${errno}). ` +
        "Choose another with --state-dir, or make it writable for this user.",
    )
  }
}
