import type { Result } from "../../../lib/result.ts"
import {
  type Change,
  type Changed,
  changeTokens,
} from "../../../service/access/tokens/change-tokens.ts"
import { type TokenEntry, tokenState } from "../../../service/access/tokens/token-entry.ts"
import { readTokenFile, type TokenFileFailure } from "../../../service/access/tokens/token-file.ts"
import { tryLock } from "../../../service/os/libc.ts"
import type { StatePaths } from "../../../service/storage/state-paths.ts"
import { option } from "../../arguments.ts"
import { makeStateDirectory } from "../../connect/state-directory.ts"
import { CommandFailure } from "../../failure.ts"

export const tokenOptions = {
  "state-dir": option("DIR", "the state directory of the service"),
}

const lockLimitMs = 10_000

/** The tokens of a state directory, whether a service runs on it or not. */
export function ownTokens(paths: StatePaths): readonly TokenEntry[] {
  return succeeded(readTokenFile(paths.tokens))
}

export async function changeOwnTokens<Outcome extends Changed>(
  paths: StatePaths,
  change: Change<Outcome>,
): Promise<Outcome> {
  makeStateDirectory(paths.directory)
  const lock = { tryLock, limitMs: lockLimitMs }
  return succeeded(await changeTokens(paths.directory, lock, change))
}

export type TokenView = ReturnType<typeof tokenView>

/** A token as programs see it: nothing of its secret, not even the hash. */
export function tokenView(entry: TokenEntry, now: Date) {
  const { id, name, scopes } = entry
  return {
    id,
    name,
    scopes,
    created_at: entry.createdAt,
    expires_at: entry.expiresAt,
    revoked_at: entry.revokedAt,
    state: tokenState(entry, now),
    session_of: entry.sessionOf ?? null,
  }
}

/** What to do with a token that is shown. */
export function tokenUse(id: string): string {
  return `\
Use it: CC_EXECUTOR_TOKEN=… or --token-file FILE, with --url; as a header: Authorization: Bearer …
Revoke it: cc-executor token revoke ${id}`
}

export function succeeded<Value>(result: Result<Value, TokenFileFailure>): Value {
  if (result.ok) return result.value
  throw new CommandFailure(result.failure.message)
}
