import { closeSync, fstatSync, openSync, readSync } from "node:fs"
import { isErrno } from "../execution/errno.ts"
import { AuditEntry } from "../protocol/audit-entry.ts"
import { type AuditFile, auditFiles } from "./audit-files.ts"
import { splitLines } from "./chain.ts"

export type AuditText = {
  /** The line as it stands in the file. */
  text: string
  /** Null for a line that is damaged, or of a version to come. */
  entry: AuditEntry | null
}

/** Every line, oldest first, a file at a time. */
export function* allLines(directory: string): Generator<AuditText> {
  for (const file of auditFiles(directory)) yield* linesOf(file)
}

/** The newest lines, oldest of them first. */
export function newestLines(directory: string, most: number): AuditText[] {
  let found: AuditText[] = []
  for (const file of auditFiles(directory).toReversed()) {
    if (found.length >= most) break
    found = [...linesOf(file, most - found.length), ...found]
  }
  return found
}

/** The lines since a time, oldest first. */
export function* linesSince(directory: string, time: Date): Generator<AuditText> {
  for (const line of allLines(directory)) {
    const isOlder = line.entry !== null && Date.parse(line.entry.time) < time.getTime()
    if (!isOlder) yield line
  }
}

/** What is added to the trail, from now on, whichever file it goes to. */
export class FollowedTrail {
  readonly #directory: string
  #ordinal: number
  #offset = 0
  #lastNumber: number

  constructor(directory: string) {
    this.#directory = directory
    this.#ordinal = auditFiles(directory).at(-1)?.ordinal ?? 0
    this.#lastNumber = newestLines(directory, 1)[0]?.entry?.number ?? 0
  }

  /** Whole lines that have come since the last time, or since the beginning. */
  next(): AuditText[] {
    const files = auditFiles(this.#directory).filter(({ ordinal }) => ordinal >= this.#ordinal)
    const found = files.flatMap((file) => this.#newIn(file))
    const news = found.filter(({ entry }) => (entry?.number ?? Infinity) > this.#lastNumber)
    this.#lastNumber = news.at(-1)?.entry?.number ?? this.#lastNumber
    return news
  }

  #newIn(file: AuditFile): AuditText[] {
    if (file.ordinal > this.#ordinal) this.#offset = 0
    this.#ordinal = file.ordinal
    const { lines } = splitLines(readUnlessRemoved(file, this.#offset))
    this.#offset += lines.reduce((sum, line) => sum + line.length + 1, 0)
    return lines.map(textOf)
  }
}

function linesOf(file: AuditFile, newest = Number.POSITIVE_INFINITY): AuditText[] {
  const { lines } = splitLines(readUnlessRemoved(file))
  return lines.slice(Math.max(0, lines.length - newest)).map(textOf)
}

function textOf(bytes: Uint8Array): AuditText {
  const text = Buffer.from(bytes).toString("utf8")
  return { text, entry: parseEntry(text) }
}

/** A service that is running may remove its oldest file at any moment. */
function readUnlessRemoved(file: AuditFile, from = 0): Uint8Array {
  try {
    const fd = openSync(file.path, "r")
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(fd).size - from))
      return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, from))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return new Uint8Array()
  }
}

function parseEntry(text: string): AuditEntry | null {
  try {
    return AuditEntry.safeParse(JSON.parse(text)).data ?? null
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return null
  }
}
