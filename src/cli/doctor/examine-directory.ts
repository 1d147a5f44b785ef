import { accessSync, constants, type Stats, statfsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { errnoOf, isErrno } from "../../lib/errno.ts"
import { checkOwnedDirectory, checkOwnedFile, pinOwnedSocket } from "../../lib/owned-file.ts"
import { UntrustedFileError } from "../../lib/untrusted-file.ts"
import { tokenState } from "../../service/access/tokens/token-entry.ts"
import { readTokenFile } from "../../service/access/tokens/token-file.ts"
import { openJournalReader } from "../../service/storage/journal/journal-reader.ts"
import { type StatePaths, stateEntriesOf } from "../../service/storage/state-paths.ts"
import { sizeText } from "../time.ts"
import { type Finding, fail, ok, warn } from "./finding.ts"

const littleSpaceBytes = 1024 ** 3
const noSpaceBytes = 256 * 1024 ** 2
const fewInodes = 100

/** Where everything is kept. */
export function examineDirectory(paths: StatePaths, now: Date): Finding[] {
  const state = examineState(paths.directory)
  // There is nothing to be seen in it, and the reason has been said.
  if (state.level === "fail") return [state, examineDisk(paths.directory)]
  const untrusted = examineEntries(paths)
  if (untrusted.length > 0) return [state, ...untrusted, examineDisk(paths.directory)]
  return [
    state,
    ...(isOwn(paths.directory) ? examineJournal(paths.journal) : []),
    ...examineSecret("receipt key", paths.receiptKey),
    ...examineTokens(paths.tokens, now),
    ...examineSecret("made token", paths.madeToken),
    examineDisk(paths.directory),
  ]
}

/** What stands where something of the service's belongs, and is not. */
function examineEntries(paths: StatePaths): Finding[] {
  const { files, directories, sockets } = stateEntriesOf(paths)
  return [
    ...files.flatMap((path) => examineEntry(path, checkOwnedFile)),
    ...directories.flatMap((path) => examineEntry(path, checkOwnedDirectory)),
    ...sockets.flatMap((path) => {
      return examineEntry(path, () => pinOwnedSocket(path)[Symbol.dispose]())
    }),
  ]
}

function examineEntry(path: string, check: (path: string) => unknown): Finding[] {
  try {
    check(path)
    return []
  } catch (error) {
    if (isErrno(error, "ENOENT")) return []
    if (!(error instanceof UntrustedFileError)) throw error
    return [fail("state directory", error.message, "no service can start until this is fixed")]
  }
}

function isOwn(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.()
}

function examineState(path: string): Finding {
  const name = "state directory"
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return examineParent(name, path)
  if (!stat.isDirectory())
    return fail(name, `${path} is not a directory`, "choose another --state-dir")
  const why = notWritable(path)
  if (why !== null) {
    return fail(
      name,
      `${path} cannot be written (${why})`,
      `chown it, or choose another --state-dir`,
    )
  }
  const uid = process.getuid?.() ?? stat.uid
  if (stat.uid !== uid) {
    const text = `${path} belongs to uid ${stat.uid}, but this is uid ${uid}`
    return warn(name, text, "run this and the service as its owner, or chown it")
  }
  if ((stat.mode & 0o077) === 0) return ok(name, `${path}, ${modeOf(stat)}`)
  return warn(name, `${path} is accessible to others, ${modeOf(stat)}`, `chmod 700 ${path}`)
}

/** It is made when it is needed, if it can be. */
function examineParent(name: string, path: string): Finding {
  const parent = nearest(path)
  const why = notWritable(parent)
  if (why === null) return ok(name, `${path}, does not exist yet`)
  return fail(name, `${path} cannot be created in ${parent} (${why})`, "choose another --state-dir")
}

function examineJournal(path: string): Finding[] {
  const opened = openJournalReader(path)
  if (!opened.ok) {
    return journalFinding(opened.failure.kind, opened.failure.message)
  }
  using _journal = opened.value
  return [ok("journal", path)]
}

type JournalTrouble = "missing" | "newer" | "older" | "full" | "unusable"

/** What to do is in the message already, but for what cannot be read at all. */
function journalFinding(kind: JournalTrouble, message: string): Finding[] {
  switch (kind) {
    case "missing":
      return []
    case "older":
      return [warn("journal", message, "no data is lost")]
    case "newer":
      return [fail("journal", message, "this version of the service cannot start with it")]
    case "full":
      return [fail("journal", message, "no service can start until this is fixed")]
    case "unusable":
      return [
        fail(
          "journal",
          message,
          "stop the service, keep a copy, and restore it from a backup; or move it away with " +
            "journal.sqlite-wal and -shm: the service then creates an empty one",
        ),
      ]
  }
}

function examineSecret(name: string, path: string): Finding[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return []
  if ((stat.mode & 0o077) === 0) return [ok(name, `${path}, ${modeOf(stat)}`)]
  return [fail(name, `${path} can be read by others, ${modeOf(stat)}`, `chmod 600 ${path}`)]
}

function examineTokens(path: string, now: Date): Finding[] {
  const read = readTokenFile(path)
  if (!read.ok)
    return [fail("tokens", read.failure.message, "no token is accepted until this is fixed")]
  if (read.value.length === 0) return []
  const good = read.value.filter((entry) => tokenState(entry, now) === "good").length
  return [ok("tokens", `${path}, ${good} of ${read.value.length} are valid`)]
}

function examineDisk(path: string): Finding {
  const { bavail, bsize, files, ffree } = statfsSync(nearest(path))
  const free = bavail * bsize
  // Some file systems make inodes as they need them, and say that there are none.
  const hasInodes = files > 0
  const text = `${sizeText(free)} free${hasInodes ? `, ${ffree} inodes` : ""}`
  if (hasInodes && ffree < fewInodes)
    return fail("disk", text, "remove files: without free inodes nothing can be started")
  if (free < noSpaceBytes)
    return fail("disk", text, "free space: executions are stopped when it is full")
  if (free < littleSpaceBytes)
    return warn("disk", text, "free some space, for example with `cc-executor prune`")
  return ok("disk", text)
}

function notWritable(path: string): string | null {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return null
  } catch (error) {
    return errnoOf(error) ?? String(error)
  }
}

function nearest(path: string): string {
  if (path === "/" || statSync(path, { throwIfNoEntry: false }) !== undefined) return path
  return nearest(dirname(path))
}

function modeOf(stat: Stats): string {
  return `mode ${(stat.mode & 0o777).toString(8).padStart(4, "0")}`
}
