import * as fs from "node:fs"
import { errnoOf, messageOf } from "../../lib/errno.ts"
import type { Log } from "../../lib/log.ts"
import { createOwned, removeOwned } from "../../lib/owned-file.ts"
import { fail, ok, type Result } from "../../lib/result.ts"
import { UntrustedFileError } from "../../lib/untrusted-file.ts"
import { appendWhole } from "../../lib/write-whole.ts"
import { type AuditNote, FileBegan } from "../../protocol/audit-entry.ts"
import type { Audit, Clock } from "../keeper/ports.ts"
import { type AuditFile, auditFile, auditFiles, firstLine, openAuditFile } from "./audit-files.ts"
import { type Link, nextLine } from "./chain.ts"
import { type Cut, mendEnd } from "./chain-end.ts"

export type AuditLogSettings = {
  directory: string
  fileBytes: number // a file is left for the next one before it grows beyond this
  files: number // kept, the one that is written included
}

type Current = { file: AuditFile; fd: number; size: number }

/** The failure is a sentence for whoever started the service. */
export function openAuditLog(
  settings: AuditLogSettings,
  clock: Clock,
  log: Log,
): Result<AuditLog, string> {
  try {
    return ok(new AuditLog(settings, clock, log))
  } catch (error) {
    if (error instanceof UntrustedFileError) return fail(error.message)
    const why = messageOf(error)
    return fail(`The audit trail in ${settings.directory} cannot be written: ${why}.`)
  }
}

/**
 * The one writer of the audit trail. A line is written when it is noted: a service that is killed
 * after it answered has the line. On a full disk lines are lost, and the next that can be written
 * comes after one that says how many.
 */
export class AuditLog implements Audit, Disposable {
  readonly #settings: AuditLogSettings
  readonly #clock: Clock
  readonly #log: Log
  #link: Link
  #ordinal: number
  #keptFrom = 1
  #current: Current | null = null
  #isDirty = false
  #lost: { count: number; since: string; why: string } | null = null
  readonly #counts = { lines: 0, lostLines: 0 }

  constructor(settings: AuditLogSettings, clock: Clock, log: Log) {
    this.#settings = settings
    this.#clock = clock
    this.#log = log
    fs.mkdirSync(settings.directory, { recursive: true, mode: 0o700 })
    fs.accessSync(settings.directory, fs.constants.W_OK)
    const end = mendEnd(settings.directory)
    this.#link = end.link
    this.#ordinal = auditFiles(settings.directory).at(-1)?.ordinal ?? 0
    if (end.file !== null) {
      this.#current = reopen(end.file)
      this.#keptFrom = FileBegan.safeParse(firstLine(end.file)?.json).data?.what.kept_from ?? 1
    }
    for (const cut of end.cuts) this.#tellCut(cut)
  }

  get head(): Link {
    return this.#link
  }

  /** Since this process began. */
  get counts(): Readonly<{ lines: number; lostLines: number }> {
    return this.#counts
  }

  note(note: AuditNote): void {
    const time = this.#clock.now().toISOString()
    try {
      this.#append(this.#lost === null ? [note] : [lossNote(this.#lost), note], time)
    } catch (error) {
      this.#countLoss(time, error)
      return
    }
    if (this.#lost === null) return
    this.#log.warn({ lines: this.#lost.count }, "audit lines can be written again; some were lost")
    this.#lost = null
  }

  /** Now and then: what was written survives a loss of power, and removed files are noticed. */
  sync(): void {
    const current = this.#current
    if (current === null) return
    if (this.#isDirty) fs.fdatasync(current.fd, (error) => this.#reportWrite(error))
    this.#isDirty = false
    if (fs.fstatSync(current.fd).nlink > 0) return
    this.#log.error({ file: current.file.path }, "the audit file was removed")
    fs.closeSync(current.fd)
    this.#current = null
  }

  [Symbol.dispose](): void {
    if (this.#current === null) return
    fs.fdatasyncSync(this.#current.fd)
    fs.closeSync(this.#current.fd)
    this.#current = null
  }

  #tellCut({ bytes, setAside }: Cut): void {
    if (setAside === null) this.#log.warn({ bytes }, "the audit trail's unsound end is cut off")
    else this.#log.error({ bytes, file: setAside }, "a damaged audit file was set aside")
    const aside = setAside === null ? {} : { set_aside: setAside }
    const what = { cut_bytes: bytes, ...aside }
    this.note({ event: "recovered", outcome: "happened", what })
  }

  #append(notes: readonly AuditNote[], time: string): void {
    const { fileBytes } = this.#settings
    let current = this.#current ?? this.#beginFile(time)
    let { bytes, link } = encode(this.#link, notes, time)
    if (current.size + bytes.length > fileBytes) {
      current = this.#beginFile(time)
      ;({ bytes, link } = encode(this.#link, notes, time))
    }
    append(current, bytes)
    this.#counts.lines += notes.length
    this.#link = link
    this.#isDirty = true
  }

  #beginFile(time: string): Current {
    const { directory } = this.#settings
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 })
    const file = auditFile(directory, this.#ordinal + 1)
    const old = auditFiles(directory)
      .toReversed()
      .slice(this.#settings.files - 1)
    const keptFrom = this.#keptWithout(old.length)
    const what = { previous: this.#link.hash, kept_from: keptFrom }
    const beginning = { event: "file-began", outcome: "happened", what } as const
    const { bytes, link } = encode(this.#link, [beginning], time)
    const next = { file, fd: createOwned(file.path, "append").fd, size: 0 }
    try {
      append(next, bytes)
      this.#counts.lines += 1
    } catch (error) {
      fs.closeSync(next.fd)
      removeOwned(file.path)
      throw error
    }
    this.#leave(this.#current)
    this.#current = next
    this.#ordinal = file.ordinal
    this.#link = link
    this.#keptFrom = keptFrom
    // The chain has told of it.
    for (const { path } of old) removeOwned(path)
    return next
  }

  /** Advances only by what is removed here: what else is missing, somebody else has removed. */
  #keptWithout(removed: number): number {
    const oldestKept = removed > 0 ? auditFiles(this.#settings.directory)[removed] : undefined
    const first = oldestKept === undefined ? null : firstLine(oldestKept)
    return first?.number ?? this.#keptFrom
  }

  #leave(current: Current | null): void {
    if (current === null) return
    fs.fdatasync(current.fd, (error) => {
      this.#reportWrite(error)
      fs.closeSync(current.fd)
    })
  }

  #reportWrite(error: Error | null): void {
    if (error !== null) this.#log.error({ err: error }, "the audit trail could not be synced")
  }

  /**
   * Whatever it is, a bug in here too: what could not be noted was done all the same, and whoever
   * did it must be able to go on. So it is counted, and told.
   */
  #countLoss(time: string, error: unknown): void {
    if (this.#lost === null) this.#log.error({ err: error }, "audit lines cannot be written")
    this.#counts.lostLines += 1
    const { count, since } = this.#lost ?? { count: 0, since: time }
    this.#lost = { count: count + 1, since, why: errnoOf(error) ?? "internal" }
  }
}

function reopen(file: AuditFile): Current {
  const { fd, stat } = openAuditFile(file, "append")
  return { file, fd, size: stat.size }
}

function encode(after: Link, notes: readonly AuditNote[], time: string) {
  let link = after
  let text = ""
  for (const note of notes) {
    const next = nextLine(link, note, time)
    text += next.line
    link = next.link
  }
  return { bytes: Buffer.from(text), link }
}

function append(current: Current, bytes: Uint8Array): void {
  appendWhole(current.fd, bytes, current.size)
  current.size += bytes.length
}

function lossNote({ count, since, why }: { count: number; since: string; why: string }): AuditNote {
  return { event: "lines-lost", outcome: "happened", what: { since, why }, count }
}
