import {
  fchmodSync,
  fchownSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  type Stats,
  statSync,
  writeSync,
} from "node:fs"
import { dirname, resolve } from "node:path"
import { writeWhole } from "../../lib/write-whole.ts"
import { CommandFailure, orFail } from "../failure.ts"

/** A client's file as it was found; `stat` is null where there is none. */
export type ConfigFile = {
  /** Where a link leads to, so that the link stays one. */
  readonly target: string
  readonly text: string
  readonly stat: Stats | null
}

const mostBytes = 64 * 1024 * 1024
const mostLinks = 40

export function readConfigFile(path: string): ConfigFile {
  return orFail(
    () => {
      const target = targetOf(path)
      const stat = statSync(target, { throwIfNoEntry: false }) ?? null
      if (stat === null) return { target, text: "", stat }
      if (!stat.isFile()) throw new CommandFailure(`${path} is not a file.`)
      if (stat.size > mostBytes)
        throw new CommandFailure(`${path} is too large for a settings file.`)
      return { target, text: textOf(path, target), stat }
    },
    cannotBe(path, "read"),
  )
}

function targetOf(path: string): string {
  let target = path
  for (let links = 0; links < mostLinks; links += 1) {
    const stat = lstatSync(target, { throwIfNoEntry: false })
    if (stat === undefined || !stat.isSymbolicLink()) return target
    target = resolve(dirname(target), readlinkSync(target))
  }
  throw new CommandFailure(`${path} is a broken symbolic link.`)
}

/** Bytes that are no text would not come back as they were. */
function textOf(path: string, target: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(target))
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new CommandFailure(`${path} is not UTF-8 text; it was not changed.`)
  }
}

/** Whole or not at all, with the mode and the owner it had. `isShared`: others may read it. */
export function writeConfigFile(
  path: string,
  { target, text: before, stat }: ConfigFile,
  text: string,
  isShared: boolean,
): void {
  orFail(
    () => {
      mkdirSync(dirname(target), { recursive: true, mode: isShared ? 0o755 : 0o700 })
      const mode = stat === null ? (isShared ? 0o644 : 0o600) : stat.mode & 0o7777
      const write = (file: number) => {
        if (stat !== null) fchownSync(file, stat.uid, stat.gid)
        fchmodSync(file, mode)
        writeAll(file, Buffer.from(text))
        // Clients write their files too, some of them often.
        if (readConfigFile(path).text === before) return
        throw new CommandFailure(
          `${path} is being changed by another program; it was not written. ` +
            "Try again, preferably while the client is not running.",
        )
      }
      writeWhole(target, write, `${target}.cc-executor-new`)
    },
    cannotBe(path, "written"),
  )
}

function writeAll(file: number, bytes: Buffer): void {
  let written = 0
  while (written < bytes.length) written += writeSync(file, bytes, written)
}

function cannotBe(path: string, what: string): (errno: string) => string {
  return (errno) => `${path} cannot be ${what} (${errno}).`
}
