import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs"
import { basename } from "node:path"
import { mayAccess, type RunAs } from "../../../execution/run-as.ts"
import { errnoOf } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Launch, SpawnFailure } from "../../keeper/ports.ts"
import { ancestors, cannotReach } from "./user-reach.ts"

/** The path by which a child about to be spawned gets there; valid until disposed. */
type WorkingDirectory = Disposable & { readonly path: string }

/** Opens a child's working directory: the very one that was checked, where one was. */
export function openWorkingDirectory(
  launch: Pick<Launch, "cwd" | "cwdIsReal" | "user">,
): Result<WorkingDirectory, SpawnFailure> {
  const { cwd, cwdIsReal, user } = launch
  if (cwdIsReal) return openRealDirectory(cwd, user)
  try {
    if (statSync(cwd).isDirectory()) {
      return ok({ path: cwd, [Symbol.dispose]: () => undefined })
    }
    return fail(notDirectory(cwd))
  } catch (error) {
    return fail(cannotEnter(cwd, error))
  }
}

/**
 * Opens a directory by its real path, step by step from the root. No step follows a link, and each
 * is one that the user could have taken: whatever is exchanged meanwhile, and whenever, that user
 * could have come here. A child enters it before it becomes the user, and would ask nobody.
 */
export function openRealDirectory(
  realPath: string,
  user: RunAs | null,
): Result<WorkingDirectory, SpawnFailure> {
  try {
    using opened = new DisposableStack()
    const held = opened.use(new OpenDirectory())
    for (const on of ancestors(realPath)) {
      if (on !== "/") held.enter(basename(on))
      if (user !== null && !held.isOpenTo(user)) {
        return fail({ errno: "EACCES", message: `the working directory ${cannotReach(user, on)}` })
      }
    }
    opened.move()
    return ok(held)
  } catch (error) {
    return fail(cannotEnter(realPath, error))
  }
}

export function cannotEnter(path: string, error: unknown): SpawnFailure {
  const errno = errnoOf(error)
  if (errno === null) throw error
  if (errno === "ENOTDIR") return notDirectory(path)
  const why = errno === "ENOENT" ? "does not exist" : `cannot be entered (${errno})`
  return { errno, message: `the working directory ${path} ${why}` }
}

function notDirectory(path: string): SpawnFailure {
  return { errno: "ENOTDIR", message: `the working directory ${path} is not a directory` }
}

// It is only looked at and gone through: that takes no right to read it.
const O_PATH = 0o10000000 // the same on x86-64 and arm64
const asStep = O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Begins at the root. */
class OpenDirectory implements WorkingDirectory {
  #fd = openSync("/", asStep)

  /**
   * Of whoever looks: a child has copies of all descriptors until it executes its program, and
   * changes its directory before. Were it otherwise, it would find nothing there, and not start.
   */
  get path(): string {
    return `/proc/self/fd/${this.#fd}`
  }

  enter(name: string): void {
    const next = openSync(`${this.path}/${name}`, asStep)
    closeSync(this.#fd)
    this.#fd = next
  }

  isOpenTo(user: RunAs): boolean {
    return mayAccess(user, fstatSync(this.#fd), "execute")
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd)
  }
}
