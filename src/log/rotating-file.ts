import * as fs from "node:fs"
import { dirname } from "node:path"
import { openOrCreateOwned, renameOwned } from "../lib/owned-file.ts"
import { fail, ok, type Result } from "../lib/result.ts"
import { UntrustedFileError } from "../lib/untrusted-file.ts"
import { appendWhole } from "../lib/write-whole.ts"
import { type LogDestination, lossCounter, reasonOf } from "./destination.ts"

export type LogFileOptions = {
  path: string
  /** The file is rotated before it would grow beyond this; a longer line gets a file alone. */
  maxBytes: number
  /** Whether it is one of a state directory's, which must be a file of the directory's owner. */
  isInStateDirectory?: boolean
  /** Rotated files beside the current one: `path.1`, the newest, to `path.N`. */
  keep: number
}

export type LogFileFailure = { path: string; errno: string }

/**
 * A log file for one process. Lines are appended at once, so that the last words of a process that
 * dies are in it. Fails only here: later on, what goes wrong costs lines and is counted.
 */
export function openRotatingFile(given: LogFileOptions): Result<LogDestination, LogFileFailure> {
  const { countLoss, takeLoss } = lossCounter()
  let options = given
  let file: number | null
  try {
    fs.mkdirSync(dirname(given.path), { recursive: true, mode: 0o700 })
    // A link stays where it is: what it leads to is rotated.
    const isLink = given.isInStateDirectory !== true && fs.existsSync(given.path)
    if (isLink) options = { ...given, path: fs.realpathSync(given.path) }
    // Else everything would go well until the first rotation.
    fs.accessSync(dirname(options.path), fs.constants.W_OK)
    file = open(options)
  } catch (error) {
    const why = error instanceof UntrustedFileError ? error.message : reasonOf(error)
    return fail({ path: given.path, errno: why })
  }

  return ok({
    isTerminal: false,
    write(line, worth) {
      if (file === null) return
      const bytes = Buffer.from(line)
      try {
        file = fileWithRoom(file, bytes.length, options)
        // Half a line would spoil the next one too.
        appendWhole(file, bytes, fs.fstatSync(file).size)
      } catch (error) {
        // Whatever it is: a log that cannot be written is no reason to end an execution.
        countLoss({ lostLines: worth, reason: reasonOf(error) })
      }
    },
    countLoss,
    takeLoss,
    flush: () => Promise.resolve(),
    [Symbol.asyncDispose]() {
      if (file !== null) fs.closeSync(file)
      file = null
      return Promise.resolve()
    },
  })
}

function open({ path, isInStateDirectory }: LogFileOptions): number {
  return isInStateDirectory === true
    ? openOrCreateOwned(path, "append").fd
    : fs.openSync(path, "a", 0o600)
}

function fileWithRoom(current: number, bytes: number, options: LogFileOptions): number {
  const { path, maxBytes } = options
  // Asked each time, because others may truncate, rename or remove the file, as logrotate does.
  const { size, dev, ino } = fs.fstatSync(current)
  const named = fs.statSync(path, { throwIfNoEntry: false })
  const isOurs = named?.ino === ino && named.dev === dev
  if (isOurs && (size === 0 || size + bytes <= maxBytes)) return current

  // Another file, or none: somebody else has rotated, or an earlier rotation of ours came to this
  // point and then failed to open the next.
  if (isOurs) shift(options)
  const next = open(options)
  fs.closeSync(current)
  return next
}

/**
 * Oldest first, so that nothing but the oldest is overwritten, wherever this is interrupted. Where
 * an interruption has left a number free, those before it move up, and nothing goes at all.
 */
function shift({ path, keep, isInStateDirectory }: LogFileOptions): void {
  const rename = isInStateDirectory === true ? renameOwned : fs.renameSync
  for (let number = firstFree(path, keep); number > 0; number -= 1) {
    const from = number === 1 ? path : `${path}.${number - 1}`
    try {
      rename(from, `${path}.${number}`)
    } catch (error) {
      if (reasonOf(error) !== "ENOENT") throw error
    }
  }
}

function firstFree(path: string, keep: number): number {
  let number = 1
  while (number < keep && isAnythingAt(`${path}.${number}`)) number += 1
  return number
}

function isAnythingAt(path: string): boolean {
  return fs.lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
