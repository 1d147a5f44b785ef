import {
  type BigIntStats,
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
} from "node:fs"
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import { appendWhole } from "../../../lib/write-whole.ts"
import { type CheckedLine, type LedgerReading, LineChecker } from "../../ledger/checked-lines.ts"
import { linesOfLedger } from "../../ledger/ledger-text.ts"
import { WorkFailure } from "../work-failure.ts"
import { writeText } from "./write-text.ts"

/** What was read of a file, and how the system told it from every other state of it. */
type Seen = { stat: BigIntStats; lines: readonly CheckedLine[]; count: number; isWhole: boolean }

const newline = 0x0a

/**
 * A ledger as its file stands. It grows at its end, so what was read once is not read again while
 * the file only grows: a trial costs the same, however many there were before. Changes to earlier
 * lines while somebody appends are found by `verify`, which reads everything.
 */
export class LedgerFile {
  readonly path: string
  readonly #checker: LineChecker
  #seen: Seen | null = null

  constructor(path: string, reading: LedgerReading) {
    this.path = path
    this.#checker = new LineChecker(reading)
  }

  /** Each line with what it is by itself. Without a file, there are none. */
  lines(): readonly CheckedLine[] {
    this.#seen = this.#look()
    return this.#seen?.lines ?? []
  }

  /** Whether the last line had its end: else somebody was writing it, or was killed then. */
  get isWhole(): boolean {
    return this.#seen?.isWhole ?? true
  }

  text(): string {
    const file = openToRead(this.path)
    if (file === null) return ""
    try {
      return readFrom(file, 0, fstatSync(file).size).toString("utf8")
    } finally {
      closeSync(file)
    }
  }

  /** Adds whole lines at the end. Only for whoever holds the lock of the work. */
  append(text: string): void {
    const before = this.lines()
    const file = before.length > 0 && this.isWhole ? this.#openToAppend() : null
    if (file === null) {
      this.replace(this.text() + text)
      return
    }
    try {
      appendWhole(file, Buffer.from(text), fstatSync(file).size)
      fdatasyncSync(file)
    } finally {
      closeSync(file)
    }
  }

  /** Whoever reads meanwhile finds the one text or the other, whole. */
  replace(text: string): void {
    writeText(this.path, Buffer.from(text))
  }

  /** Null for what is another file by now, a link, or one that can only be replaced. */
  #openToAppend(): number | null {
    const file = openAppending(this.path)
    if (file === null) return null
    const seen = this.#seen
    if (seen !== null && isUnchanged(seen.stat, fstatSync(file, { bigint: true }))) return file
    closeSync(file)
    return null
  }

  #look(): Seen | null {
    const file = openToRead(this.path)
    if (file === null) return null
    try {
      const stat = fstatSync(file, { bigint: true })
      const seen = this.#seen
      if (seen !== null && isUnchanged(seen.stat, stat)) return seen
      const hasGrown =
        seen?.isWhole === true && isSameFile(seen.stat, stat) && stat.size > seen.stat.size
      return this.#read(file, stat, hasGrown ? seen : null)
    } finally {
      closeSync(file)
    }
  }

  #read(file: number, stat: BigIntStats, before: Seen | null): Seen {
    const lines = [...(before?.lines ?? [])]
    let count = before?.count ?? 0
    let isWhole = true
    for (const bytes of piecesOf(file, Number(before?.stat.size ?? 0), Number(stat.size))) {
      const text = bytes.toString("utf8")
      for (const line of linesOfLedger(text, count)) lines.push(this.#checker.check(line))
      count += text.split("\n").length - 1
      isWhole = bytes.at(-1) === newline
    }
    return { stat, lines, count, isWhole }
  }
}

function isSameFile(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino
}

function isUnchanged(one: BigIntStats, other: BigIntStats): boolean {
  const isAsOld = one.mtimeNs === other.mtimeNs && one.ctimeNs === other.ctimeNs
  return isSameFile(one, other) && one.size === other.size && isAsOld
}

function openToRead(path: string): number | null {
  const file = openIfThere(path)
  if (file === null || fstatSync(file).isFile()) return file
  closeSync(file)
  throw new WorkFailure(`${path} is not a file: the ledger is to stand there.`)
}

function openIfThere(path: string): number | null {
  try {
    // A pipe without a writer would be waited for.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    if (errno === "ENOENT") return null
    throw new WorkFailure(`${path} cannot be read (${errno}).`)
  }
}

function openAppending(path: string): number | null {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW)
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ELOOP", "EACCES", "EPERM")) throw error
    return null
  }
}

function readFrom(file: number, start: number, end: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.max(0, end - start))
  let length = 0
  while (length < bytes.length) {
    const count = readSync(file, bytes, length, bytes.length - length, start + length)
    if (count === 0) break
    length += count
  }
  return bytes.subarray(0, length)
}

const pieceBytes = 1024 * 1024

/** Whole lines; the last piece may lack its line end. */
function* piecesOf(file: number, start: number, end: number): Generator<Buffer> {
  let begun = Buffer.alloc(0)
  for (let at = start; at < end; ) {
    const read = readFrom(file, at, Math.min(end, at + pieceBytes))
    if (read.length === 0) break // it was cut off meanwhile
    at += read.length
    const bytes = Buffer.concat([begun, read])
    const whole = bytes.lastIndexOf(newline) + 1
    if (whole > 0) yield bytes.subarray(0, whole)
    begun = bytes.subarray(whole)
  }
  if (begun.length > 0) yield begun
}
