import { errnoOf } from "../../../lib/errno.ts"
import { type OwnedFile, openOrCreateOwned } from "../../../lib/owned-file.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { UntrustedFileError } from "../../../lib/untrusted-file.ts"
import { statePathsIn } from "../../storage/state-paths.ts"
import type { TokenEntry } from "./token-entry.ts"
import { readTokenFile, type TokenFileFailure, untrusted, writeTokenFile } from "./token-file.ts"

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
  const { fd } = stack.use(opened.value)
  const deadlineMs = performance.now() + limitMs
  while (!tryLock(fd)) {
    if (performance.now() > deadlineMs) return fail(locked(path, limitMs))
    await Bun.sleep(pollMs)
  }
  return ok(stack.move())
}

function openLock(path: string): Result<OwnedFile, TokenFileFailure> {
  try {
    return ok(openOrCreateOwned(path, "change"))
  } catch (error) {
    if (error instanceof UntrustedFileError) return fail(untrusted(error))
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
