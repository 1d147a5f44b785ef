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
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { Programs, SpawnFailure } from "../../keeper/ports.ts"

/** The kernel follows no more scripts that are interpreters of scripts. */
const mostFiles = 10

/** Every file that starting a program loads by a name in it; a failure says why it is unknown. */
export function programFiles(
  file: string,
  path: string,
  locate: Programs["locate"],
): Result<ProgramFiles, SpawnFailure> {
  const looked = look(file)
  if (!looked.ok) return looked
  const { identity, head } = looked.value
  const further: FileIdentity[] = []
  const called = interpretersOf(head)
  if (!called.ok) return unknown(`${identity.realPath}: ${called.failure}`)
  const waiting = called.value
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const found = locate(next.kind === "path" ? next.path : next.name, path, "/")
    if (!found.ok) return unknown(`its interpreter: ${found.failure.message}`, found.failure.errno)
    const interpreter = look(found.value.realPath)
    if (!interpreter.ok) return interpreter
    further.push(interpreter.value.identity)
    const deeper = interpretersOf(interpreter.value.head)
    if (!deeper.ok) return unknown(`${found.value.realPath}: ${deeper.failure}`)
    waiting.push(...deeper.value)
    if (further.length > mostFiles) return unknown("its interpreters are scripts without end")
  }
  return ok([identity, ...further])
}

type Looked = { identity: FileIdentity; head: Uint8Array }

/** Where it is not a system call that failed, it is what `execve` would say of such a file. */
function unknown(message: string, errno = "ENOEXEC"): Result<never, SpawnFailure> {
  return fail({ errno, message })
}

function look(path: string): Result<Looked, SpawnFailure> {
  try {
    return ok(read(realpathSync(path)))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return unknown(`${path} cannot be read (${errno})`, errno)
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

/** What a script's first line calls: a path as it stands there, or a name to find along PATH. */
export type Interpreter = { kind: "path"; path: string } | { kind: "name"; name: string }

/** Linux looks at so many bytes of a file. */
const shebangBytes = 256

/**
 * The interpreters of a script in the order they are executed; none for what is no script. `env`
 * is followed to what it starts in its turn.
 */
export function interpretersOf(head: Uint8Array): Result<Interpreter[], string> {
  const text = new TextDecoder().decode(head.subarray(0, shebangBytes))
  if (!text.startsWith("#!")) return ok([])
  const end = text.indexOf("\n")
  const line = (end < 0 ? text : text.slice(0, end)).slice(2).replace(/^[ \t]+|[ \t]+$/g, "")
  const [path = ""] = line.split(/[ \t]/)
  if (!path.startsWith("/")) {
    return fail(`its interpreter ${JSON.stringify(path)} is not an absolute path`)
  }
  if (end < 0 && head.length >= shebangBytes && line === path) {
    return fail("its first line is too long")
  }
  const first: Interpreter = { kind: "path", path }
  if (path.slice(path.lastIndexOf("/") + 1) !== "env") return ok([first])
  const target = startedByEnv(line.slice(path.length).trim())
  if (target === null) return fail("its first line gives `env` options that cannot be followed")
  if (target.startsWith("/")) return ok([first, { kind: "path", path: target }])
  if (!target.includes("/")) return ok([first, { kind: "name", name: target }])
  return fail(`its first line makes \`env\` start ${target}, which depends on the directory`)
}

/** `NAME`, or with -S a whole command line, possibly with variables that change nothing of it. */
function startedByEnv(argument: string): string | null {
  const split = /^(?:-S|--split-string=|-vS)\s*(.*)$/.exec(argument)?.[1]
  // Without -S the kernel passes all of it as one word.
  if (split === undefined) return /^[^-\s=][^\s=]*$/.test(argument) ? argument : null
  const words = split.split(/[ \t]+/)
  const [name] = words
  // Quotes, escapes, expansions, options and assignments could each make it another program.
  return name !== undefined && /^[\w./+-]+$/.test(name) && !name.startsWith("-") ? name : null
}
