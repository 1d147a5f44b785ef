import { SQLiteError } from "bun:sqlite"

/** Why a journal cannot be opened. `message` says what is wrong, where, and what to do. */
export type JournalFailure =
  | { kind: "missing"; path: string; message: string }
  | { kind: "newer"; path: string; found: number; known: number; message: string }
  | { kind: "older"; path: string; found: number; known: number; message: string }
  | { kind: "full"; path: string; message: string }
  | { kind: "unusable"; path: string; message: string }

/** A write that found no room. Nothing of it is in the journal: make room and write it again. */
export class JournalFullError extends Error {
  override readonly name = "JournalFullError"
  readonly path: string
  readonly code: string

  constructor(path: string, cause: SQLiteError) {
    const code = codeOf(cause)
    super(
      `the journal ${path} could not be written (${code}: ${cause.message}); ` +
        "free space on its disk, then repeat the write",
      { cause },
    )
    this.path = path
    this.code = code
  }
}

/** A row that is not what the journal wrote: damage, or a writer of another version. */
export class JournalDamagedError extends Error {
  override readonly name = "JournalDamagedError"

  constructor(what: string, path: string, why: string) {
    super(
      `${what} cannot be read from the journal ${path}: ${why}; ` +
        "keep a copy of the file, then restore it from a backup or remove that execution",
    )
  }
}

/** SQLite says FULL when a write finds no space, IOERR when a sync or the index of the log does. */
export function isOutOfRoom(error: unknown): error is SQLiteError {
  return error instanceof SQLiteError && /^SQLITE_(FULL|IOERR)/.test(codeOf(error))
}

export function codeOf(error: SQLiteError): string {
  return error.code ?? `SQLite error ${error.errno}`
}
