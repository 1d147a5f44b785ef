import type { Scope } from "../../../execution/scope.ts"
import type { Result } from "../../../lib/result.ts"
import {
  type Change,
  type Changed,
  changeTokens,
} from "../../../service/access/tokens/change-tokens.ts"
import {
  type TokenEntry,
  type TokenState,
  tokenState,
} from "../../../service/access/tokens/token-entry.ts"
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

/** A token as programs see it: nothing of its secret, not even the hash. */
export type TokenView = {
  id: string
  name: string
  scopes: Scope[]
  created_at: string
  expires_at: string | null
  revoked_at: string | null
  state: TokenState
}

export function tokenView(entry: TokenEntry, now: Date): TokenView {
  const { id, name, scopes } = entry
  return {
    id,
    name,
    scopes,
    created_at: entry.createdAt,
    expires_at: entry.expiresAt,
    revoked_at: entry.revokedAt,
    state: tokenState(entry, now),
  }
}

function succeeded<Value>(result: Result<Value, TokenFileFailure>): Value {
  if (result.ok) return result.value
  throw new CommandFailure(result.failure.message)
}
