import { isErrno } from "../../lib/errno.ts"
import { readAll } from "../../lib/owned-file.ts"
import { FileBegan } from "../../protocol/audit-entry.ts"
import { type AuditFile, auditFiles, damagedFiles, openAuditFile } from "./audit-files.ts"
import { hashOf, type Link, readLine, splitLines } from "./chain.ts"

export type AuditFault = {
  file: string
  /** The first is 1. */
  line: number
  why: string
}

export type AuditVerdict = {
  verified: boolean
  fault: AuditFault | null
  files: number
  /** The oldest line there is, null when there is none. */
  from: number | null
  /** The last line that is sound. */
  head: Link | null
  /** Of a last line that is being written, or that a crash left so. */
  unfinishedBytes: number
}

const mostTries = 5

/** Follows the chain through every file. A head noted earlier must be in it. */
export function verifyAudit(directory: string, noted: Link | null = null): AuditVerdict {
  for (let tries = 1; ; tries += 1) {
    const files = auditFiles(directory)
    try {
      return new Walk(files, damagedFiles(directory), noted).verdict()
    } catch (error) {
      // A service that is running may remove its oldest file at any moment, and tells of it.
      if (!isErrno(error, "ENOENT") || tries === mostTries) throw error
    }
  }
}

class Walk {
  readonly #files: readonly AuditFile[]
  readonly #damaged: readonly string[]
  readonly #noted: Link | null
  #from: number | null = null
  #keptFrom = 1
  #link: Link | null = null
  #isNotedFound = false
  #unfinishedBytes = 0

  constructor(files: readonly AuditFile[], damaged: readonly string[], noted: Link | null) {
    this.#files = files
    this.#damaged = damaged
    this.#noted = noted
  }

  verdict(): AuditVerdict {
    const fault = this.#firstFault()
    return {
      verified: fault === null,
      fault,
      files: this.#files.length,
      from: this.#from,
      head: this.#link,
      unfinishedBytes: this.#unfinishedBytes,
    }
  }

  #firstFault(): AuditFault | null {
    for (const file of this.#files) {
      const fault = this.#fileFault(file)
      if (fault !== null) return fault
    }
    return this.#missingFault() ?? this.#notedFault() ?? this.#damagedFault()
  }

  #fileFault(file: AuditFile): AuditFault | null {
    using opened = openAuditFile(file, "read")
    const { lines, rest } = splitLines(readAll(opened, file.path, Number.POSITIVE_INFINITY))
    let line = 0
    for (const bytes of lines) {
      line += 1
      const why = this.#lineFault(bytes, line === 1)
      if (why !== null) return { file: file.name, line, why }
    }
    if (rest.length === 0) return null
    const isLast = file === this.#files.at(-1)
    // A hash is the last of a line: what goes on after one is no beginning of a line.
    const isBeginning = !/"hash":"[0-9a-f]{64}"\}./s.test(Buffer.from(rest).toString("latin1"))
    if (!isLast || !isBeginning) return { file: file.name, line: line + 1, why: "has no end" }
    this.#unfinishedBytes = rest.length
    return null
  }

  #lineFault(bytes: Uint8Array, isFirst: boolean): string | null {
    const line = readLine(bytes)
    if (line === null) return "is not a line of an audit trail"
    const beginning = isFirst ? FileBegan.safeParse(line.json).data : undefined
    if (isFirst && beginning === undefined) return "does not begin a file, as the first line must"
    const before = this.#link ?? { number: line.number - 1, hash: beginning?.what.previous ?? "" }
    if (line.number !== before.number + 1) return outOfOrder(before.number + 1, line.number)
    const isContinued = beginning === undefined || beginning.what.previous === before.hash
    if (!isContinued || hashOf(before.hash, line.body) !== line.hash) {
      return "does not match its hash and the line before: one of them was changed"
    }
    this.#from ??= line.number
    if (beginning !== undefined) this.#keptFrom = beginning.what.kept_from
    this.#link = { number: line.number, hash: line.hash }
    const { number, hash } = this.#noted ?? {}
    // The hash before the oldest line is known as well, though that line is gone.
    this.#isNotedFound ||= number === line.number && hash === line.hash
    this.#isNotedFound ||= number === before.number && hash === before.hash
    return null
  }

  #missingFault(): AuditFault | null {
    const [oldest] = this.#files
    if (oldest === undefined || this.#from === null || this.#from <= this.#keptFrom) return null
    const missing = span(this.#keptFrom, this.#from - 1)
    return {
      file: oldest.name,
      line: 1,
      why: `has nothing before it: ${missing} missing, and nothing says why`,
    }
  }

  #notedFault(): AuditFault | null {
    if (this.#noted === null || this.#isNotedFound) return null
    const { number } = this.#noted
    const file = this.#files.at(-1)?.name ?? "no file"
    const isGone = this.#from !== null && number < this.#from
    const isAhead = number > (this.#link?.number ?? 0)
    const why = isGone
      ? `cannot be compared: line ${number} of the given head is no longer kept`
      : isAhead
        ? `ends the trail before line ${number} of the given head: lines were removed`
        : `belongs to another trail: line ${number} has another hash in the given head`
    return { file, line: 0, why }
  }

  /** Nobody can tell what was in it, so nothing is intact as long as it is there. */
  #damagedFault(): AuditFault | null {
    const [file] = this.#damaged
    if (file === undefined) return null
    const why =
      "was set aside when the service started: it has no intact line, and its contents are lost; " +
      "examine it, then move it elsewhere"
    return { file, line: 0, why }
  }
}

function outOfOrder(expected: number, found: number): string {
  if (found > expected) return `is number ${found}: ${span(expected, found - 1)} missing before it`
  return `is number ${found} instead of ${expected}: a line was moved or inserted`
}

function span(first: number, last: number): string {
  return first === last ? `line ${first} is` : `lines ${first} to ${last} are`
}
