import { constants, copyFileSync } from "node:fs"
import { join } from "node:path"
import { executable, type ServiceOptions } from "../../support/service.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

/**
 * Lets a service run from a copy of the executable that nobody else runs. The kernel divides the
 * pages of an executable among all who run it: beside another service, the PSS of this one would be
 * too small by some 20 MB.
 */
export function ownExecutable(): Disposable & Pick<Required<ServiceOptions>, "prefix"> {
  const folder = temporaryFolder()
  const copy = join(folder.path, "cc-executor")
  copyFileSync(executable, copy, constants.COPYFILE_FICLONE)
  return {
    // The shell is given the copy as its own name, and then the executable it takes the place of.
    prefix: ["sh", "-c", 'shift; exec "$0" "$@"', copy],
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}
