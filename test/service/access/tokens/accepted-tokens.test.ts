import { describe, expect, test } from "bun:test"
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { readAcceptedTokens } from "../../../../src/service/access/tokens/accepted-tokens.ts"
import { newToken, type Token, tokenText } from "../../../../src/service/access/tokens/token.ts"
import { TokenBook } from "../../../../src/service/access/tokens/token-book.ts"
import type { TokenFileFailure } from "../../../../src/service/access/tokens/token-file.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"
import { TokenDirectory } from "./token-directory.ts"

const now = new Date("2026-11-16T12:00:00Z")

function someToken(): Token {
  return newToken((bytes) => crypto.getRandomValues(bytes))
}

function acceptedIn(directory: TokenDirectory) {
  const told: TokenFileFailure[] = []
  const path = join(directory.path, "secret")
  const book = new TokenBook(directory.path, (failure) => told.push(failure), {
    path,
    scopes: ["read"],
  })
  return { path, book, told }
}

describe("a file of tokens to accept", () => {
  test("lets its bearers in as one principal, with the scopes that were configured", () => {
    using directory = new TokenDirectory()
    const { path, book } = acceptedIn(directory)
    const tokens = [someToken(), someToken()]
    writeFileSync(path, `${tokens.map(tokenText).join("\r\n\n")}\n`)

    expect(book.hasUsable(now)).toBe(true)
    for (const token of tokens) {
      expect(book.check(tokenText(token), now)).toMatchObject({
        ok: true,
        value: { id: token.id, name: "token-file", scopes: ["read"] },
      })
    }
  })

  test("lets in nobody with the right name of a token and another secret", () => {
    using directory = new TokenDirectory()
    const { path, book } = acceptedIn(directory)
    const token = someToken()
    writeFileSync(path, tokenText(token))

    const { secret } = someToken()

    expect(book.check(tokenText({ id: token.id, secret }), now)).toEqual({
      ok: false,
      failure: "wrong",
    })
    expect(book.check(tokenText(someToken()), now)).toEqual({ ok: false, failure: "unknown" })
  })

  test.each([
    ["written over", (path: string, text: string) => writeFileSync(path, text)],
    ["replaced", replace],
  ])("counts at once when it is %s, and so does who is no longer in it", (_, put) => {
    using directory = new TokenDirectory()
    const { path, book } = acceptedIn(directory)
    const [first, second] = [someToken(), someToken()]
    writeFileSync(path, tokenText(first))
    expect(book.check(tokenText(first), now).ok).toBe(true)

    put(path, tokenText(second))

    expect(book.check(tokenText(first), now)).toEqual({ ok: false, failure: "unknown" })
    expect(book.check(tokenText(second), now).ok).toBe(true)
    expect(book.isStillGood(first.id, now)).toBe(false)
    expect(book.isStillGood(second.id, now)).toBe(true)
  })

  test("may be a link that is turned to another file, as platforms hand out secrets", () => {
    using directory = new TokenDirectory()
    const { path, book } = acceptedIn(directory)
    const [first, second] = [someToken(), someToken()]
    for (const [version, token] of [first, second].entries()) {
      mkdirSync(join(directory.path, `..${version}`))
      writeFileSync(join(directory.path, `..${version}/secret`), tokenText(token))
    }
    symlinkSync("..0", join(directory.path, "..data"))
    symlinkSync("..data/secret", path)
    expect(book.check(tokenText(first), now).ok).toBe(true)

    symlinkSync("..1", join(directory.path, "..next"))
    renameSync(join(directory.path, "..next"), join(directory.path, "..data"))

    expect(book.check(tokenText(first), now).ok).toBe(false)
    expect(book.check(tokenText(second), now).ok).toBe(true)
  })

  test("that turns bad lets nobody in, is told of once, and leaves made tokens alone", async () => {
    using directory = new TokenDirectory()
    const { path, book, told } = acceptedIn(directory)
    const token = someToken()
    const made = await directory.create(now)
    writeFileSync(path, tokenText(token))
    expect(book.check(tokenText(token), now).ok).toBe(true)

    rmSync(path)

    for (const _ of [1, 2]) {
      expect(book.check(tokenText(token), now)).toEqual({ ok: false, failure: "unavailable" })
      expect(book.isStillGood(token.id, now)).toBe(false)
    }
    expect(book.check(made.text, now).ok).toBe(true)
    expect(told.map(({ kind }) => kind)).toEqual(["unreadable"])
  })

  test("does not bring a token back that was revoked", async () => {
    using directory = new TokenDirectory()
    const { path, book } = acceptedIn(directory)
    const made = await directory.create(now)
    writeFileSync(path, made.text)

    await directory.revoke(now, made.id)

    expect(book.check(made.text, now)).toEqual({ ok: false, failure: "revoked" })
  })
})

describe("a file of tokens that cannot be used", () => {
  const token = someToken()
  const broken = tokenText(token).slice(0, -1)

  test.each([
    ["is not there", () => undefined, "unreadable", "ENOENT"],
    ["is a directory", (path: string) => mkdirSync(path), "damaged", "not a regular file"],
    ["is empty", (path: string) => writeFileSync(path, " \n"), "damaged", "no token in it"],
    ["is huge", (path: string) => writeFileSync(path, "x".repeat(1e5)), "damaged", "larger than"],
    [
      "holds half a token",
      (path: string) => writeFileSync(path, `${tokenText(token)} ${broken}`),
      "damaged",
      "word 2 of 2 is not a complete token",
    ],
    [
      "holds a password",
      (path: string) => writeFileSync(path, "hunter2"),
      "damaged",
      "complete token",
    ],
    ["is for everybody to write", writableByAll, "exposed", "chmod o-w"],
  ] as const)("because it %s says so, and nothing of what it holds", (_, put, kind, words) => {
    using folder = temporaryFolder()
    const path = join(folder.path, "secret")
    put(path)

    const read = readAcceptedTokens({ path, scopes: ["read"] })

    expect(read).toMatchObject({ ok: false, failure: { kind } })
    const message = read.ok ? "" : read.failure.message
    expect(message).toContain(words)
    expect(message).toContain(path)
    for (const secret of [token.secret, broken, "hunter2"]) expect(message).not.toContain(secret)
  })

  function writableByAll(path: string): void {
    writeFileSync(path, tokenText(token))
    chmodSync(path, 0o666)
  }
})

function replace(path: string, text: string): void {
  writeFileSync(`${path}.next`, text)
  renameSync(`${path}.next`, path)
}
