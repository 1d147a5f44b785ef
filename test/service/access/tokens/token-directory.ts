import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ok, type Result } from "../../../../src/lib/result.ts"
import { changeTokens } from "../../../../src/service/access/tokens/change-tokens.ts"
import { tokenText } from "../../../../src/service/access/tokens/token.ts"
import type { TokenEntry } from "../../../../src/service/access/tokens/token-entry.ts"
import {
  makeToken,
  revokeTokens,
  type Wanted,
  withToken,
} from "../../../../src/service/access/tokens/token-list.ts"
import { tryLock } from "../../../../src/service/os/libc.ts"
import { statePathsIn } from "../../../../src/service/storage/state-paths.ts"

export const lock = { tryLock, limitMs: 5_000 }

/** A state directory in which tokens are made and revoked for real. */
export class TokenDirectory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "cc-executor-tokens-"))

  get file(): string {
    return statePathsIn(this.path).tokens
  }

  async create(now: Date, wanted: Partial<Wanted> = {}): Promise<{ text: string } & TokenEntry> {
    const whole: Wanted = { name: "ci", scopes: ["read"], ttlMs: null, ...wanted }
    const { token, entry } = makeToken(whole, now, (bytes) => crypto.getRandomValues(bytes))
    succeeded(await changeTokens(this.path, lock, (tokens) => withToken(tokens, entry, now)))
    return { text: tokenText(token), ...entry }
  }

  async revoke(now: Date, ...names: string[]): Promise<void> {
    succeeded(await changeTokens(this.path, lock, (tokens) => ok(revokeTokens(tokens, names, now))))
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

export function succeeded<Value>(result: Result<Value, unknown>): Value {
  assert(result.ok, JSON.stringify(result))
  return result.value
}
