import assert from "node:assert/strict"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { changeTokens } from "../../src/access/change-tokens.ts"
import { tokenText } from "../../src/access/token.ts"
import type { TokenEntry } from "../../src/access/token-entry.ts"
import { tokenFilePath } from "../../src/access/token-file-path.ts"
import { makeToken, revokeTokens, type Wanted, withToken } from "../../src/access/token-list.ts"
import { ok, type Result } from "../../src/execution/result.ts"
import { tryLock } from "../../src/process/libc.ts"

export const lock = { tryLock, limitMs: 5_000 }

/** A state directory in which tokens are made and revoked for real. */
export class TokenDirectory implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), "cc-executor-tokens-"))

  get file(): string {
    return tokenFilePath(this.path)
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
