import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs"
import type { FileIdentity, ProgramFiles } from "../../../execution/policy.ts"
import { interpretersOf, shebangBytes } from "../../../execution/shebang.ts"
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Programs } from "../../keeper/ports.ts"

/** The kernel follows no more scripts that are interpreters of scripts. */
const mostFiles = 10

/** Every file that starting a program loads by a name in it; a failure says why it is unknown. */
export function programFiles(
  file: string,
  path: string,
  locate: Programs["locate"],
): Result<ProgramFiles, string> {
  const looked = look(file)
  if (!looked.ok) return looked
  const { identity, head } = looked.value
  const further: FileIdentity[] = []
  const called = interpretersOf(head)
  if (!called.ok) return fail(`${identity.realPath}: ${called.failure}`)
  const waiting = called.value
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const found = locate(next.kind === "path" ? next.path : next.name, path, "/")
    if (!found.ok) return fail(`its interpreter: ${found.failure.message}`)
    const interpreter = look(found.value.realPath)
    if (!interpreter.ok) return interpreter
    further.push(interpreter.value.identity)
    const deeper = interpretersOf(interpreter.value.head)
    if (!deeper.ok) return fail(`${found.value.realPath}: ${deeper.failure}`)
    waiting.push(...deeper.value)
    if (further.length > mostFiles) return fail("its interpreters are scripts without end")
  }
  return ok([identity, ...further])
}

type Looked = { identity: FileIdentity; head: Uint8Array }

function look(path: string): Result<Looked, string> {
  try {
    return ok(read(realpathSync(path)))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(`${path} cannot be read (${errno})`)
  }
}

/** One open descriptor for both, so that what is read is what is identified. */
function read(realPath: string): Looked {
  let fd: number
  try {
    // Should it have become a named pipe meanwhile, nobody waits for a writer.
    fd = openSync(realPath, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    if (!isErrno(error, "EACCES")) throw error
    // It may be executed but not read, and a script has to be read by its interpreter.
    const stat = statSync(realPath, { bigint: true })
    return { identity: { realPath, stamp: stampOf(stat) }, head: new Uint8Array(0) }
  }
  try {
    const stamp = stampOf(fstatSync(fd, { bigint: true }))
    const buffer = new Uint8Array(shebangBytes)
    const length = readSync(fd, buffer, 0, shebangBytes, 0)
    return { identity: { realPath, stamp }, head: buffer.subarray(0, length) }
  } finally {
    closeSync(fd)
  }
}

/** The last change of a file, of its owner or mode sets ctime, which nobody can set otherwise. */
function stampOf({ dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, mode, uid, gid, size, mtimeNs, ctimeNs].join(":")
}
