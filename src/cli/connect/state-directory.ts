import { openOrCreateOwned } from "../../lib/owned-file.ts"
import type { Result } from "../../lib/result.ts"
import { tryLock } from "../../service/os/libc.ts"
import {
  locateStateDirectory,
  makeOwnDirectory,
  whyNotOwn,
} from "../../service/storage/locate-state-directory.ts"
import { type StatePaths, statePathsIn } from "../../service/storage/state-paths.ts"
import { CommandFailure } from "../failure.ts"

/** A state directory as a command may use it. */
export type LocalState = {
  paths: StatePaths
  /** Else it is another user's, and this is root: it may look, and speak with the service there. */
  isOwn: boolean
}

/** For commands that read, or ask the service. One that does not exist yet will be one's own. */
export function readableState(directory: string): LocalState {
  const located = succeeded(locateStateDirectory(directory))
  const paths = statePathsIn(located.path)
  if (located.kind === "foreign" && process.geteuid?.() === 0) return { paths, isOwn: false }
  const unusable = whyNotOwn(located)
  if (unusable === null) return { paths, isOwn: true }
  throw new CommandFailure(unusable)
}

/** For commands that write into it: it must be one's own. */
export function writableState(directory: string): StatePaths {
  const located = succeeded(locateStateDirectory(directory))
  const unusable = whyNotOwn(located)
  if (unusable === null) return statePathsIn(located.path)
  throw new CommandFailure(unusable)
}

/** For its owner only, where there is none yet; a directory of somebody else's is refused. */
export function makeStateDirectory(path: string): void {
  succeeded(makeOwnDirectory(path))
}

function succeeded<Value>(result: Result<Value, string>): Value {
  if (result.ok) return result.value
  throw new CommandFailure(result.failure)
}

/** Excludes other commands that would do the same to a state directory; null when one does. */
export function tryCommandLock(path: string): Disposable | null {
  const file = openOrCreateOwned(path, "change")
  if (tryLock(file.fd)) return file
  file[Symbol.dispose]()
  return null
}
