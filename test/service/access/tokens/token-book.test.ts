import { describe, expect, test } from "bun:test"
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { newToken, tokenText } from "../../../../src/service/access/tokens/token.ts"
import { TokenBook } from "../../../../src/service/access/tokens/token-book.ts"
import type { TokenFileFailure } from "../../../../src/service/access/tokens/token-file.ts"
import { ManualClock } from "../../../support/manual-clock.ts"
import { TokenDirectory } from "./token-directory.ts"

const day = 86_400_000
const sampleTime = new Date("2026-11-16T12:00:00Z")

function bookOf(directory: TokenDirectory) {
  const told: TokenFileFailure[] = []
  return { book: new TokenBook(directory.path, (failure) => told.push(failure)), told }
}

describe("a book of tokens", () => {
  test("takes a token as soon as it was made, and no other", async () => {
    using directory = new TokenDirectory()
    const { book } = bookOf(directory)
    const now = () => sampleTime
    expect(book.hasUsable(now())).toBe(false)

    const made = await directory.create(now(), { name: "ci", scopes: ["execute"] })

    expect(book.check(made.text, now())).toMatchObject({
      ok: true,
      value: { id: made.id, name: "ci", scopes: ["execute"] },
    })
    expect(book.isStillGood(made.id, now())).toBe(true)
    expect(book.hasUsable(now())).toBe(true)
    expect(book.isStillGood("aaaaaaaaaa", now())).toBe(false)
  })

  test("says why it takes none of the others", async () => {
    using directory = new TokenDirectory()
    const { book } = bookOf(directory)
    const now = () => sampleTime
    const made = await directory.create(now())
    const stranger = newToken((bytes) => crypto.getRandomValues(bytes))

    const refused = (text: string) => book.check(text, now())

    expect(refused(made.text.slice(0, -1))).toEqual({ ok: false, failure: "malformed" })
    expect(refused(tokenText(stranger))).toEqual({ ok: false, failure: "unknown" })
    expect(refused(tokenText({ ...stranger, id: made.id }))).toEqual({
      ok: false,
      failure: "wrong",
    })
  })

  test("takes a token until the moment it expires", async () => {
    using directory = new TokenDirectory()
    const { book } = bookOf(directory)
    const clock = new ManualClock()
    const made = await directory.create(clock.now(), { ttlMs: day })

    clock.advance(day - 1)
    expect(book.check(made.text, clock.now()).ok).toBe(true)
    clock.advance(1)

    expect(book.check(made.text, clock.now())).toEqual({ ok: false, failure: "expired" })
    expect(book.isStillGood(made.id, clock.now())).toBe(false)
    expect(book.hasUsable(clock.now())).toBe(false)
  })

  test("takes none from the moment it is revoked; others of its name stay good", async () => {
    using directory = new TokenDirectory()
    const { book } = bookOf(directory)
    const now = () => sampleTime
    const first = await directory.create(now())
    const second = await directory.create(now())
    expect(book.check(first.text, now()).ok).toBe(true)

    await directory.revoke(now(), first.id)

    expect(book.check(first.text, now())).toEqual({ ok: false, failure: "revoked" })
    expect(book.isStillGood(first.id, now())).toBe(false)
    expect(book.check(second.text, now()).ok).toBe(true)
  })

  test("does not tell who lacks the secret how the token ended", async () => {
    using directory = new TokenDirectory()
    const { book } = bookOf(directory)
    const clock = new ManualClock()
    const made = await directory.create(clock.now(), { ttlMs: day })
    await directory.revoke(clock.now(), made.id)
    clock.advance(2 * day)

    const guess = newToken((bytes) => crypto.getRandomValues(bytes))

    expect(book.check(tokenText({ ...guess, id: made.id }), clock.now())).toEqual({
      ok: false,
      failure: "wrong",
    })
  })

  test("sees every one of many quick changes", async () => {
    using directory = new TokenDirectory()
    const { book } = bookOf(directory)
    const now = () => sampleTime

    for (let round = 0; round < 100; round++) {
      const made = await directory.create(now())
      expect(book.check(made.text, now()).ok).toBe(true)
      await directory.revoke(now(), made.id)
      expect(book.check(made.text, now()).ok).toBe(false)
      expect(book.isStillGood(made.id, now())).toBe(false)
    }
  })
})

describe("a file that turned bad", () => {
  test.each([
    ["is open to others", (file: string) => chmodSync(file, 0o644), "exposed"] as const,
    ["is damaged", (file: string) => writeFileSync(file, "{"), "damaged"] as const,
  ])("because it %s keeps everybody out, and is told once", async (_, spoil, kind) => {
    using directory = new TokenDirectory()
    const { book, told } = bookOf(directory)
    const now = () => sampleTime
    const made = await directory.create(now())
    const good = readFileSync(directory.file)
    expect(book.check(made.text, now()).ok).toBe(true)

    spoil(directory.file)

    for (let round = 0; round < 3; round++) {
      expect(book.check(made.text, now())).toEqual({ ok: false, failure: "unavailable" })
      expect(book.isStillGood(made.id, now())).toBe(false)
      expect(book.hasUsable(now())).toBe(false)
    }
    expect(told.map((failure) => failure.kind)).toEqual([kind])

    writeFileSync(directory.file, good)
    chmodSync(directory.file, 0o600)
    expect(book.check(made.text, now()).ok).toBe(true)
  })

  test("or is gone keeps everybody out", async () => {
    using directory = new TokenDirectory()
    const { book, told } = bookOf(directory)
    const now = () => sampleTime
    const made = await directory.create(now())
    expect(book.check(made.text, now()).ok).toBe(true)

    rmSync(directory.file)

    expect(book.check(made.text, now())).toEqual({ ok: false, failure: "unknown" })
    expect(told).toEqual([])
  })
})

describe("whatever is done to a good token", () => {
  test("it is refused, and every refusal has the same shape", async () => {
    using directory = new TokenDirectory()
    const { book } = bookOf(directory)
    const now = () => sampleTime
    const { text } = await directory.create(now())
    const anything = fc.record({
      at: fc.nat(text.length),
      remove: fc.nat(3),
      insert: fc.oneof(fc.string({ maxLength: 3 }), fc.stringMatching(/^[a-z2-7]{0,3}$/)),
    })

    fc.assert(
      fc.property(anything, ({ at, remove, insert }) => {
        const changed = text.slice(0, at) + insert + text.slice(at + remove)
        fc.pre(changed !== text)

        expect(book.check(changed, now())).toEqual({ ok: false, failure: expect.any(String) })
      }),
    )
    expect(book.check(text, now()).ok).toBe(true)
  })
})
