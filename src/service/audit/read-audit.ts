import { readSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"
import type { OwnedFile } from "../../lib/owned-file.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { lineEnd } from "../../lib/vector/line-ends.ts"
import { AuditEntry } from "../../protocol/audit-entry.ts"
import { type AuditFile, auditFiles, mostLineBytes, openAuditFile } from "./audit-files.ts"
import { splitLines } from "./chain.ts"

export type AuditText = {
  text: string
  /** Null for a line that is damaged, or of a version to come. */
  entry: AuditEntry | null
}

/** A place between two lines: in the file of this ordinal, after so many bytes. */
export type TrailPosition = { ordinal: number; offset: number }

/** After the last whole line there is now. */
export function endOfTrail(directory: string): TrailPosition {
  const file = auditFiles(directory).at(-1)
  if (file === undefined) return { ordinal: 0, offset: 0 }
  const from = Math.max(0, sizeOf(file) - mostLineBytes)
  const tail = readUnlessRemoved(file, from)
  return { ordinal: file.ordinal, offset: from + tail.lastIndexOf(lineEnd) + 1 }
}

/** Every line, oldest first, a file at a time. */
export function* allLines(directory: string, end = endOfTrail(directory)): Generator<AuditText> {
  for (const part of partsBefore(directory, end)) yield* linesOf(part)
}

/** The newest lines, oldest of them first. */
export function newestLines(
  directory: string,
  most: number,
  end = endOfTrail(directory),
): AuditText[] {
  let found: AuditText[] = []
  for (const part of partsBefore(directory, end).toReversed()) {
    if (found.length >= most) break
    found = [...newestOf(part, most - found.length), ...found]
  }
  return found
}

/** The lines since a time, oldest first. What was over before that is not looked into. */
export function* linesSince(
  directory: string,
  time: Date,
  end = endOfTrail(directory),
): Generator<AuditText> {
  const parts = partsBefore(directory, end)
  const first = parts.findIndex((_, at) => !beganBefore(parts[at + 1], time))
  for (const part of parts.slice(first)) {
    for (const line of linesOf(part)) if (!isOlder(line.entry, time)) yield line
  }
}

/** What comes after a place, whichever file it goes to. */
export class FollowedTrail {
  readonly #directory: string
  #position: TrailPosition

  constructor(directory: string, from: TrailPosition) {
    this.#directory = directory
    this.#position = from
  }

  /** Whole lines that have come since the last time. */
  next(): AuditText[] {
    const files = auditFiles(this.#directory)
    return files.flatMap((file) => (file.ordinal < this.#position.ordinal ? [] : this.#newIn(file)))
  }

  #newIn(file: AuditFile): AuditText[] {
    const offset = file.ordinal === this.#position.ordinal ? this.#position.offset : 0
    const { lines } = splitLines(readUnlessRemoved(file, offset))
    const length = lines.reduce((sum, line) => sum + line.length + 1, 0)
    this.#position = { ordinal: file.ordinal, offset: offset + length }
    return lines.map(textOf)
  }
}

/** A file as far as it counts. */
type Part = { file: AuditFile; endOffset: number }

function partsBefore(directory: string, end: TrailPosition): Part[] {
  return auditFiles(directory)
    .filter(({ ordinal }) => ordinal <= end.ordinal)
    .map((file) => {
      const isLast = file.ordinal === end.ordinal
      return { file, endOffset: isLast ? end.offset : sizeOf(file) }
    })
}

/** Then the file before it was over as well, unless the clock was set back meanwhile. */
function beganBefore(part: Part | undefined, time: Date): boolean {
  if (part === undefined) return false
  const [line] = splitLines(readUnlessRemoved(part.file, 0, mostLineBytes)).lines
  return line !== undefined && isOlder(textOf(line).entry, time)
}

function isOlder(entry: AuditEntry | null, time: Date): boolean {
  return entry !== null && Date.parse(entry.time) < time.getTime()
}

function linesOf({ file, endOffset }: Part): AuditText[] {
  return splitLines(readUnlessRemoved(file, 0, endOffset)).lines.map(textOf)
}

/** From the end, as far back as it takes. */
function newestOf({ file, endOffset }: Part, most: number): AuditText[] {
  for (let length = mostLineBytes; ; length *= 4) {
    const from = Math.max(0, endOffset - length)
    const { lines } = splitLines(readUnlessRemoved(file, from, endOffset))
    // The first one may have begun before.
    const whole = from === 0 ? lines : lines.slice(1)
    if (from === 0 || whole.length >= most) return whole.slice(-most).map(textOf)
  }
}

function textOf(bytes: Uint8Array): AuditText {
  const text = Buffer.from(bytes).toString("utf8")
  return { text, entry: parseEntry(text) }
}

/** A service that is running may remove its oldest file at any moment. */
function readUnlessRemoved(file: AuditFile, from: number, to?: number): Uint8Array {
  const found = openUnlessRemoved(file)
  if (found === null) return new Uint8Array()
  using opened = found
  const bytes = Buffer.alloc(Math.max(0, (to ?? opened.stat.size) - from))
  return bytes.subarray(0, readSync(opened.fd, bytes, 0, bytes.length, from))
}

function sizeOf(file: AuditFile): number {
  using opened = openUnlessRemoved(file)
  return opened?.stat.size ?? 0
}

function openUnlessRemoved(file: AuditFile): OwnedFile | null {
  try {
    return openAuditFile(file, "read")
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return null
  }
}

function parseEntry(text: string): AuditEntry | null {
  return AuditEntry.safeParse(tryParseJson(text)).data ?? null
}
