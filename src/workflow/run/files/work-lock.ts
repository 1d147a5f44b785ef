import { dirname } from "node:path"
import { inDirectoryLock } from "../../../service/os/directory-lock.ts"
import { WorkFailure } from "../work-failure.ts"

/** Nobody else writes into works of that directory meanwhile. */
export async function lockWork<Value>(path: string, use: () => Promise<Value>): Promise<Value> {
  const done = await inDirectoryLock(dirname(path), use)
  if (done !== null) return done.value
  throw new WorkFailure(
    `${dirname(path)} has been locked by another process for a minute, so ${path} cannot be ` +
      "written. Nothing is lost: `cc-executor render` writes it later.",
  )
}
