import { accessSync, constants, realpathSync, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"
import { errnoOf } from "../execution/errno.ts"
import { fail, ok, type Result } from "../execution/result.ts"
import type { Program, Programs, SpawnFailure } from "../keeper/ports.ts"

/** Finds programs on this machine as execvp would, and says why when it cannot. */
export const programs: Programs = {
  locate(name, path, cwd) {
    if (name === "") return fail({ errno: "ENOENT", message: "the program's name is empty" })
    if (name.includes("/")) return inspect(isAbsolute(name) ? name : resolve(cwd, name), name)
    let refused: SpawnFailure = {
      errno: "ENOENT",
      message: `${name}: command not found in PATH (${path})`,
    }
    for (const directory of path.split(":")) {
      const found = inspect(join(directory === "" ? cwd : directory, name), name)
      if (found.ok) return found
      if (found.failure.errno === "EACCES") refused = found.failure
    }
    return fail(refused)
  },
}

function inspect(path: string, name: string): Result<Program, SpawnFailure> {
  try {
    const found = statSync(path, { throwIfNoEntry: false }) // most places on a PATH hold nothing
    if (found === undefined) return fail(missing(name, path))
    if (!found.isFile()) {
      return fail({ errno: "EACCES", message: `${name}: ${path} is not a file` })
    }
    accessSync(path, constants.X_OK)
    return ok({ path, realPath: realpathSync(path) })
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === "ENOENT" || errno === "ENOTDIR") return fail(missing(name, path))
    if (errno === "EACCES") {
      return fail({ errno, message: `${name}: ${path} may not be executed by this user` })
    }
    return fail({ errno: errno ?? "EIO", message: `${name}: ${path}: ${String(error)}` })
  }
}

function missing(name: string, path: string): SpawnFailure {
  return { errno: "ENOENT", message: `${name}: there is no file ${path}` }
}
