import { closeSync, constants, openSync } from "node:fs"
import { dirname } from "node:path"
import { errnoOf, isErrno } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { statePathsIn } from "../../storage/state-paths.ts"
import type { TokenEntry } from "./token-entry.ts"
import { giveToOwner, readTokenFile, type TokenFileFailure, writeTokenFile } from "./token-file.ts"

export type LockPort = {
  /** Takes an exclusive lock on an open file; false when somebody else has it. */
  tryLock: (fd: number) => boolean
  /** How long others, who change the tokens too, are waited for. */
  limitMs: number
}

export type Changed = { tokens: readonly TokenEntry[] }
export type Change<Outcome extends Changed> = (
  tokens: readonly TokenEntry[],
) => Result<Outcome, TokenFileFailure>

/** Reads, changes and writes, with nobody in between. Answers what came of it. */
export async function changeTokens<Outcome extends Changed>(
  stateDirectory: string,
  lock: LockPort,
  change: Change<Outcome>,
): Promise<Result<Outcome, TokenFileFailure>> {
  const { tokens: path, tokensLock } = statePathsIn(stateDirectory)
  const held = await takeLock(tokensLock, lock)
  if (!held.ok) return held
  using _held = held.value
  const before = readTokenFile(path)
  if (!before.ok) return before
  const after = change(before.value)
  if (!after.ok || after.value.tokens === before.value) return after
  const written = writeTokenFile(path, after.value.tokens)
  return written.ok ? after : written
}

const pollMs = 10

async function takeLock(
  path: string,
  { tryLock, limitMs }: LockPort,
): Promise<Result<Disposable, TokenFileFailure>> {
  const opened = openLock(path)
  if (!opened.ok) return opened
  using stack = new DisposableStack()
  const file = stack.adopt(opened.value, closeSync)
  const deadlineMs = performance.now() + limitMs
  while (!tryLock(file)) {
    if (performance.now() > deadlineMs) return fail(locked(path, limitMs))
    await Bun.sleep(pollMs)
  }
  return ok(stack.move())
}

function openLock(path: string): Result<number, TokenFileFailure> {
  const { O_RDWR, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    const file = openSync(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
    giveToOwner(file, dirname(path))
    return ok(file)
  } catch (error) {
    if (!isErrno(error, "EEXIST")) return fail(unusable(path, error))
  }
  try {
    return ok(openSync(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK)) // the file stays, whoever made it
  } catch (error) {
    return fail(unusable(path, error))
  }
}

function locked(path: string, limitMs: number): TokenFileFailure {
  const message =
    `Another program has been changing the tokens for ${limitMs / 1000} s and holds ${path}. ` +
    "Try again; `fuser` shows which one."
  return { kind: "locked", message }
}

function unusable(path: string, error: unknown): TokenFileFailure {
  const errno = errnoOf(error)
  if (errno === null) throw error
  const message = `${path} cannot be opened (${errno}). Check who owns the directory.`
  return { kind: "unwritable", message }
}
