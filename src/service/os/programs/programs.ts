import { accessSync, constants, realpathSync, statSync } from "node:fs"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { mayAccess, type RunAs } from "../../../execution/run-as.ts"
import { errnoOf } from "../../../lib/errno.ts"
import { shortageOf } from "../../../lib/exhaustion.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Program, Programs, SpawnFailure } from "../../keeper/ports.ts"
import { cannotEnter, openRealDirectory } from "./open-working-directory.ts"
import { programFiles } from "./program-files.ts"
import { cannotReach, unreachableFor } from "./user-reach.ts"

/**
 * Finds programs on this machine as execvp would, and says why when it cannot: for the service's
 * own user, or for another one that children run as.
 */
export function programsFor(user: RunAs | null): Programs {
  const locate: Programs["locate"] = (name, path, cwd) => {
    if (name === "") return fail({ errno: "ENOENT", message: "the program's name is empty" })
    if (name.includes("/")) return inspect(isAbsolute(name) ? name : resolve(cwd, name), name, user)
    let refused: SpawnFailure = { errno: "ENOENT", message: `${name}: command not found` }
    for (const directory of path.split(":")) {
      const found = inspect(join(directory === "" ? cwd : directory, name), name, user)
      if (found.ok) return found
      // That nothing more could be opened says nothing of where the program is.
      if (shortageOf(found.failure.errno) !== null) return found
      if (found.failure.errno !== "ENOENT") refused = found.failure
    }
    return fail(refused)
  }
  return {
    locate,
    filesOf: ({ realPath }, path) => programFiles(realPath, path, locate),
    directory: (path) => realDirectory(path, user),
  }
}

function inspect(path: string, name: string, user: RunAs | null): Result<Program, SpawnFailure> {
  try {
    const found = statSync(path, { throwIfNoEntry: false }) // most places on a PATH hold nothing
    if (found === undefined) return fail(missing(name, path))
    if (!found.isFile()) {
      return fail({ errno: "EACCES", message: `${name}: ${path} is not a file` })
    }
    accessSync(path, constants.X_OK)
    const realPath = realpathSync(path)
    if (user !== null && !mayExecute(user, realPath)) {
      return fail({ errno: "EACCES", message: `${name}: ${cannotReach(user, path)}` })
    }
    return ok({ path, realPath })
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === "ENOENT" || errno === "ENOTDIR") return fail(missing(name, path))
    if (errno === "EACCES") {
      return fail({ errno, message: `${name}: ${path} cannot be executed by this user` })
    }
    return fail({ errno: errno ?? "EIO", message: `${name}: ${path}: ${String(error)}` })
  }
}

function missing(name: string, path: string): SpawnFailure {
  return { errno: "ENOENT", message: `${name}: there is no file ${path}` }
}

/** Root may execute and enter more than the user that it is done for. */
function mayExecute(user: RunAs, realPath: string): boolean {
  if (unreachableFor(user, dirname(realPath)) !== null) return false
  return mayAccess(user, statSync(realPath), "execute")
}

function realDirectory(path: string, user: RunAs | null): Result<string, SpawnFailure> {
  try {
    const realPath = realpathSync(path)
    const held = openRealDirectory(realPath, user)
    if (!held.ok) return held
    held.value[Symbol.dispose]()
    return ok(realPath)
  } catch (error) {
    return fail(cannotEnter(path, error))
  }
}
