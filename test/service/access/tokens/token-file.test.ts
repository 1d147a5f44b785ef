import { describe, expect, test } from "bun:test"
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { ok } from "../../../../src/lib/result.ts"
import { changeTokens } from "../../../../src/service/access/tokens/change-tokens.ts"
import type { TokenEntry } from "../../../../src/service/access/tokens/token-entry.ts"
import { readTokenFile } from "../../../../src/service/access/tokens/token-file.ts"
import { revokeTokens, withToken } from "../../../../src/service/access/tokens/token-list.ts"
import { tryLock } from "../../../../src/service/os/libc.ts"
import { SmallDisk } from "../../../support/small-disk.ts"
import { lock, succeeded, TokenDirectory } from "./token-directory.ts"

const now = new Date("2026-11-16T12:00:00Z")
const isRoot = process.geteuid?.() === 0

const sample: TokenEntry = {
  id: "abcdefghij",
  name: "ci",
  scopes: ["read"],
  secretHash: "0".repeat(64),
  createdAt: "2025-11-16T12:00:00.000Z",
  expiresAt: null,
  revokedAt: null,
}

function fileOf(changed: Record<string, unknown>): unknown {
  return { version: 1, tokens: [{ ...sample, ...changed }] }
}

describe("the file with the tokens", () => {
  test("that does not exist holds none", () => {
    using directory = new TokenDirectory()

    expect(succeeded(readTokenFile(directory.file))).toEqual([])
  })

  test("gives back what was made, for its owner's eyes only, and leaves no draft", async () => {
    using directory = new TokenDirectory()
    writeFileSync(`${directory.file}.new`, "left by a crash", { mode: 0o644 })

    const { text, ...entry } = await directory.create(now, { scopes: ["read", "execute"] })

    expect(succeeded(readTokenFile(directory.file))).toEqual([entry])
    expect(entry.scopes).toEqual(["execute", "read"])
    expect(statSync(directory.file).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory.path).toSorted()).toEqual(["tokens.json", "tokens.lock"])
    expect(readFileSync(directory.file, "utf8")).not.toContain(text.slice(15, 60))
  })

  test.each([0o640, 0o604, 0o660, 0o622, 0o601])("is not trusted with mode 0%o", async (mode) => {
    using directory = new TokenDirectory()
    await directory.create(now)
    chmodSync(directory.file, mode)

    const read = readTokenFile(directory.file)

    expect(read).toMatchObject({ ok: false, failure: { kind: "exposed" } })
    expect(read).toHaveProperty("failure.message", expect.stringContaining("chmod 600 "))
  })

  test.skipIf(!isRoot)("is not trusted when it belongs to a stranger", async () => {
    using directory = new TokenDirectory()
    await directory.create(now)
    chownSync(directory.file, 12_345, 12_345)

    const read = readTokenFile(directory.file)

    expect(read).toMatchObject({ ok: false, failure: { kind: "untrusted" } })
  })

  test.skipIf(!isRoot)("is not made by root in a directory of somebody else's", async () => {
    using directory = new TokenDirectory()
    chownSync(directory.path, 12_345, 12_345)

    const changed = await changeTokens(directory.path, lock, () => ok({ tokens: [sample] }))

    expect(changed).toMatchObject({ ok: false, failure: { kind: "untrusted" } })
    expect(changed).toHaveProperty("failure.message", expect.stringContaining("user 12345"))
    expect(readdirSync(directory.path)).toEqual([])
  })

  test.skipIf(!isRoot)("is not used to have root give somebody else's file away", async () => {
    using directory = new TokenDirectory()
    const precious = join(directory.path, "precious")
    writeFileSync(precious, "root's", { mode: 0o600 })
    chownSync(directory.path, 12_345, 12_345)
    symlinkSync(precious, join(directory.path, "tokens.lock"))

    const changed = await changeTokens(directory.path, lock, () => ok({ tokens: [] }))

    expect(changed).toMatchObject({ ok: false, failure: { kind: "untrusted" } })
    expect(statSync(precious).uid).toBe(0)
  })

  test.each([
    ["nothing", ""],
    ["half of itself", '{"version":1,"tok'],
    ["something else", '"tokens"'],
    ["a later version", '{"version":2,"tokens":[]}'],
    ["a hash that is none", JSON.stringify(fileOf({ secretHash: "00" }))],
    ["an unknown scope", JSON.stringify(fileOf({ scopes: ["everything"] }))],
    ["no scope", JSON.stringify(fileOf({ scopes: [] }))],
    ["a reserved name", JSON.stringify(fileOf({ name: "local" }))],
    ["a date that is none", JSON.stringify(fileOf({ expiresAt: "soon" }))],
    ["one id twice", JSON.stringify({ version: 1, tokens: [sample, sample] })],
  ])("with %s in it is refused and left alone", async (_, text) => {
    using directory = new TokenDirectory()
    writeFileSync(directory.file, text, { mode: 0o600 })

    const read = readTokenFile(directory.file)
    const changed = await changeTokens(directory.path, lock, () => ok({ tokens: [] }))

    expect(read).toMatchObject({ ok: false, failure: { kind: "damaged" } })
    expect(read).toHaveProperty("failure.message", expect.stringContaining(directory.file))
    expect(changed).toMatchObject({ ok: false, failure: { kind: "damaged" } })
    expect(readFileSync(directory.file, "utf8")).toBe(text)
  })

  test("that is a directory, a link or a pipe is refused, without waiting for it", () => {
    using directory = new TokenDirectory()

    mkdirSync(directory.file)
    expect(readTokenFile(directory.file).ok).toBe(false)
    rmSync(directory.file, { recursive: true })
    symlinkSync("/etc/passwd", directory.file)
    expect(readTokenFile(directory.file)).toMatchObject({ failure: { kind: "untrusted" } })
    rmSync(directory.file)
    Bun.spawnSync(["mkfifo", "-m", "600", directory.file])
    expect(readTokenFile(directory.file)).toMatchObject({ failure: { kind: "untrusted" } })
  })

  test("is not waited for without end", async () => {
    using directory = new TokenDirectory()
    await directory.create(now)
    using stack = new DisposableStack()
    const held = stack.adopt(openSync(join(directory.path, "tokens.lock"), "r+"), closeSync)
    expect(tryLock(held)).toBe(true)

    const brief = { tryLock, limitMs: 30 }
    const changed = await changeTokens(directory.path, brief, () => ok({ tokens: [] }))

    expect(changed).toMatchObject({ ok: false, failure: { kind: "locked" } })
    expect(succeeded(readTokenFile(directory.file))).toHaveLength(1)
  })

  test.skipIf(!isRoot)("stays as it was when the disk is full", async () => {
    using disk = new SmallDisk("2m")
    const file = join(disk.path, "tokens.json")
    const change = () => ok({ tokens: [sample] })
    succeeded(await changeTokens(disk.path, lock, change))
    const before = readFileSync(file, "utf8")
    disk.fill()

    const failed = await changeTokens(disk.path, lock, change)

    expect(failed).toMatchObject({ ok: false, failure: { kind: "unwritable" } })
    expect(failed).toHaveProperty("failure.message", expect.stringContaining("(ENOSPC)"))
    expect(readFileSync(file, "utf8")).toBe(before)
    expect(readdirSync(disk.path)).not.toContain("tokens.json.new")
    disk.empty()
    expect((await changeTokens(disk.path, lock, change)).ok).toBe(true)
  })

  test("in a directory that is not there cannot be written, and says so", async () => {
    using directory = new TokenDirectory()

    const nowhere = join(directory.path, "nowhere")
    const changed = await changeTokens(nowhere, lock, () => ok({ tokens: [] }))

    expect(changed).toMatchObject({ ok: false, failure: { kind: "unwritable" } })
  })
})

describe("the list of tokens", () => {
  test("forgets those that ended long ago, when one more is made", () => {
    const old = { ...sample, id: "aaaaaaaaaa", expiresAt: "2026-01-01T00:00:00.000Z" }
    const revoked = { ...sample, id: "bbbbbbbbbb", revokedAt: "2026-01-01T00:00:00.000Z" }
    const recent = { ...sample, id: "cccccccccc", revokedAt: "2026-11-01T00:00:00.000Z" }

    const { tokens } = succeeded(withToken([old, revoked, recent], sample, now))

    expect(tokens).toEqual([recent, sample])
  })

  test("has an end", () => {
    const many = Array.from({ length: 1_000 }, () => sample)

    expect(withToken(many.slice(1), sample, now).ok).toBe(true)
    expect(withToken(many, sample, now)).toMatchObject({ failure: { kind: "full" } })
  })

  test("is revoked from by id or by name; what is unknown or done already is told apart", () => {
    const [one, two, three] = ["aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"].map((id) => ({
      ...sample,
      id,
      name: id === "cccccccccc" ? "other" : "ci",
    }))
    const tokens = [one, two, three].flatMap((entry) => entry ?? [])

    const byId = revokeTokens(tokens, ["bbbbbbbbbb", "nobody"], now)
    const byName = revokeTokens(byId.tokens, ["ci"], now)

    expect(byId.revoked.map(({ id }) => id)).toEqual(["bbbbbbbbbb"])
    expect(byId.unknown).toEqual(["nobody"])
    expect(byName.revoked.map(({ id }) => id)).toEqual(["aaaaaaaaaa"])
    expect(byName.alreadyRevoked.map(({ id }) => id)).toEqual(["bbbbbbbbbb"])
    expect(byName.tokens.map(({ revokedAt }) => revokedAt === null)).toEqual([false, false, true])
    expect(revokeTokens(byName.tokens, null, now).revoked.map(({ id }) => id)).toEqual([
      "cccccccccc",
    ])
  })
})
