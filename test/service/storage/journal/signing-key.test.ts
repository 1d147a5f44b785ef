import { describe, expect, test } from "bun:test"
import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import {
  loadOrCreateSigningKey,
  publicKeyPem,
} from "../../../../src/service/storage/journal/signing-key.ts"
import { failureOf, succeeded, temporaryDirectory } from "./temporary-journal.ts"

describe("a state directory without a receipt key", () => {
  test("gets one that only its owner can read, and nothing else", () => {
    using directory = temporaryDirectory()

    succeeded(loadOrCreateSigningKey(directory.path))

    expect(readdirSync(directory.path)).toEqual(["receipt-key.pem"])
    expect(statSync(keyFile(directory.path)).mode & 0o777).toBe(0o600)
  })

  test("gets one even where a crash left half of one", () => {
    using directory = temporaryDirectory()
    writeFileSync(`${keyFile(directory.path)}.new`, "-----BEGIN PRIV", { mode: 0o644 })

    succeeded(loadOrCreateSigningKey(directory.path))

    expect(readdirSync(directory.path)).toEqual(["receipt-key.pem"])
    expect(statSync(keyFile(directory.path)).mode & 0o777).toBe(0o600)
  })

  test("that does not exist is a failure that names the file", () => {
    using directory = temporaryDirectory()
    const nowhere = join(directory.path, "nowhere")

    const failure = failureOf(loadOrCreateSigningKey(nowhere))

    expect(failure.kind).toBe("unreadable")
    expect(failure.message).toContain(keyFile(nowhere))
  })
})

describe("a state directory with a receipt key", () => {
  test("keeps it: the same key comes back", () => {
    using directory = temporaryDirectory()
    const made = succeeded(loadOrCreateSigningKey(directory.path))

    const loaded = succeeded(loadOrCreateSigningKey(directory.path))

    expect(loaded.id).toBe(made.id)
    expect(publicKeyPem(loaded)).toBe(publicKeyPem(made))
  })

  test("names it by the hash of its public key", () => {
    using directory = temporaryDirectory()

    const key = succeeded(loadOrCreateSigningKey(directory.path))

    const der = createPublicKey(publicKeyPem(key)).export({ type: "spki", format: "der" })
    expect(key.id).toBe(createHash("sha256").update(der).digest("hex").slice(0, 16))
  })

  test.each([0o640, 0o604, 0o660, 0o622, 0o601])("refuses it with mode 0%o", (mode) => {
    using directory = temporaryDirectory()
    succeeded(loadOrCreateSigningKey(directory.path))
    const before = readFileSync(keyFile(directory.path), "utf8")
    chmodSync(keyFile(directory.path), mode)

    const failure = failureOf(loadOrCreateSigningKey(directory.path))

    expect(failure.kind).toBe("exposed")
    expect(failure.message).toContain(`chmod 600 ${keyFile(directory.path)}`)
    expect(readFileSync(keyFile(directory.path), "utf8")).toBe(before)
  })

  test("refuses a file that is no key, and does not replace it", () => {
    using directory = temporaryDirectory()
    writeFileSync(keyFile(directory.path), "not a key", { mode: 0o600 })

    const failure = failureOf(loadOrCreateSigningKey(directory.path))

    expect(failure.kind).toBe("malformed")
    expect(readFileSync(keyFile(directory.path), "utf8")).toBe("not a key")
  })

  test("refuses a key of another kind", () => {
    using directory = temporaryDirectory()
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
    const pem = privateKey.export({ type: "pkcs8", format: "pem" })
    writeFileSync(keyFile(directory.path), pem, { mode: 0o600 })

    expect(failureOf(loadOrCreateSigningKey(directory.path)).kind).toBe("malformed")
  })

  test("refuses a directory in its place", () => {
    using directory = temporaryDirectory()
    mkdirSync(keyFile(directory.path), { mode: 0o700 })

    expect(failureOf(loadOrCreateSigningKey(directory.path)).kind).toBe("unreadable")
    expect(existsSync(keyFile(directory.path))).toBe(true)
  })
})

function keyFile(directory: string): string {
  return join(directory, "receipt-key.pem")
}
