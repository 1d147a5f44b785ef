import { describe, expect, test } from "bun:test"
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { makeOwnToken, readMadeToken } from "../../../../src/service/access/tokens/made-token.ts"
import { TokenBook } from "../../../../src/service/access/tokens/token-book.ts"
import { statePathsIn } from "../../../../src/service/storage/state-paths.ts"
import { lock, succeeded, TokenDirectory } from "./token-directory.ts"

const now = new Date("2026-11-16T12:00:00Z")

describe("a token that a service makes for itself", () => {
  test("is good without an end, and kept for its owner alone", async () => {
    using directory = new TokenDirectory()

    const entry = succeeded(await make(directory))

    const text = succeeded(readMadeToken(directory.path)) ?? ""
    expect(text).toStartWith(`cce_${entry.id}_`)
    expect(check(directory, text)).toEqual({ ok: true, value: entry })
    expect(entry).toMatchObject({
      name: "made-token",
      scopes: ["execute", "control", "read"],
      expiresAt: null,
    })
    expect(statSync(madeTokenIn(directory)).mode & 0o777).toBe(0o600)
  })

  test("is revoked like any other; the next one has its name", async () => {
    using directory = new TokenDirectory()
    await make(directory)
    const before = succeeded(readMadeToken(directory.path)) ?? ""

    await directory.revoke(now, "made-token")
    const after = succeeded(await make(directory))

    expect(check(directory, before)).toEqual({ ok: false, failure: "revoked" })
    const text = succeeded(readMadeToken(directory.path)) ?? ""
    expect(check(directory, text)).toEqual({ ok: true, value: after })
    expect(after.name).toBe("made-token")
  })

  test("counts only once it can be shown: what cannot be written down is not made", async () => {
    using directory = new TokenDirectory()
    mkdirSync(madeTokenIn(directory)) // so that nothing can be renamed over it

    const made = await make(directory)

    expect(made).toMatchObject({ ok: false, failure: { kind: "unwritable" } })
    expect(new TokenBook(directory.path, () => undefined).hasUsable(now)).toBe(false)
  })

  test("is not made beside tokens that cannot be understood, and those stay", async () => {
    using directory = new TokenDirectory()
    writeFileSync(directory.file, "{", { mode: 0o600 })

    const made = await make(directory)

    expect(made).toMatchObject({ ok: false, failure: { kind: "damaged" } })
    expect(readFileSync(directory.file, "utf8")).toBe("{")
    expect(readMadeToken(directory.path)).toEqual({ ok: true, value: null })
  })
})

describe("the file of a made token", () => {
  test("that holds something else, or is a link, is told of and not shown", async () => {
    using directory = new TokenDirectory()
    const path = madeTokenIn(directory)
    writeFileSync(path, "cce_half\n", { mode: 0o600 })
    const half = readMadeToken(directory.path)
    using other = new TokenDirectory()
    await make(other)
    using linked = new TokenDirectory()
    symlinkSync(madeTokenIn(other), madeTokenIn(linked))

    expect(half).toMatchObject({ ok: false, failure: { kind: "damaged" } })
    expect(JSON.stringify(half)).toContain(path)
    expect(readMadeToken(linked.path)).toMatchObject({ ok: false, failure: { kind: "untrusted" } })
  })
})

function make(directory: TokenDirectory) {
  return makeOwnToken(directory.path, lock, now, (bytes) => crypto.getRandomValues(bytes))
}

function check(directory: TokenDirectory, text: string) {
  return new TokenBook(directory.path, () => undefined).check(text, now)
}

function madeTokenIn(directory: TokenDirectory): string {
  return statePathsIn(directory.path).madeToken
}
