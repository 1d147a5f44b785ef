import { afterAll, describe, expect, test } from "bun:test"
import { appendFileSync, chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import {
  readTlsMaterial,
  type TlsFiles,
} from "../../../../src/service/gateway/listen/tls-material.ts"
import { Authority } from "../../../support/certificates.ts"

const authority = new Authority()
const pair = authority.issue({ subject: "/CN=localhost", days: 30 })
const good: TlsFiles = { ...pair, clientCa: authority.ca }

afterAll(() => authority[Symbol.dispose]())

describe("certificate and key that belong together", () => {
  test("are read, with the day the certificate expires", () => {
    const material = read(good)

    const leftDays = (material.expiresAt.getTime() - Date.now()) / 86_400_000
    expect(leftDays).toBeWithin(29, 30.1)
    expect(material.fingerprint).toMatch(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/)
    expect(material.clientCa).toBe(readFileSync(authority.ca, "utf8"))
    expect(read({ ...good, clientCa: null }).clientCa).toBeNull()
  })

  test("may have intermediates behind the certificate, not before it", () => {
    const chain = file("chain.pem", readFileSync(pair.cert, "utf8"))
    appendFileSync(chain, readFileSync(authority.ca))
    expect(read({ ...good, cert: chain }).fingerprint).toBe(read(good).fingerprint)

    const reversed = file("reversed.pem", readFileSync(authority.ca, "utf8"))
    appendFileSync(reversed, readFileSync(pair.cert))
    expect(refusal({ ...good, cert: reversed })).toContain("before its intermediates")
  })

  test("a key that others may read is warned of", () => {
    const key = file("open.key", readFileSync(pair.key, "utf8"))
    chmodSync(key, 0o644)
    expect(read({ ...good, key }).warnings).toEqual([expect.stringContaining(`chmod 600 ${key}`)])
    chmodSync(key, 0o600)
    expect(read({ ...good, key }).warnings).toEqual([])
  })
})

describe("what cannot be used is refused with what to do", () => {
  const none = "/nowhere/at-all.pem"
  const text = () => file("text.pem", "hello\n")
  const broken = () =>
    file("broken.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
  const encrypted = () => {
    const path = join(authority.folder, "encrypted.key")
    const how = ["-aes256", "-passout", "pass:secret", "-out", path]
    expect(Bun.spawnSync(["openssl", "pkey", "-in", pair.key, ...how]).exitCode).toBe(0)
    return path
  }

  test.each<[string, () => TlsFiles, string]>([
    ["no certificate file", () => ({ ...good, cert: none }), `--tls-cert ${none} cannot be read`],
    ["no key file", () => ({ ...good, key: none }), `--tls-key ${none} cannot be read (ENOENT)`],
    ["no authority file", () => ({ ...good, clientCa: none }), `--tls-client-ca ${none} cannot`],
    ["a folder", () => ({ ...good, cert: authority.folder }), "(EISDIR)"],
    ["text as certificate", () => ({ ...good, cert: text() }), "contains no certificate"],
    ["text as key", () => ({ ...good, key: text() }), "contains no private key"],
    ["text as authority", () => ({ ...good, clientCa: text() }), "contains no certificate"],
    [
      "a broken certificate",
      () => ({ ...good, cert: broken() }),
      "contains an invalid certificate: ",
    ],
    [
      "a broken authority",
      () => ({ ...good, clientCa: broken() }),
      "contains an invalid certificate: ",
    ],
    ["an encrypted key", () => ({ ...good, key: encrypted() }), "is encrypted"],
    [
      "another's key",
      () => ({ ...good, key: authority.issue({ subject: "/CN=other" }).key }),
      "does not match the first certificate",
    ],
  ])("%s", (_, files, why) => {
    expect(refusal(files())).toContain(why)
  })
})

function read(files: TlsFiles) {
  const material = readTlsMaterial(files)
  if (!material.ok) throw new Error(material.failure)
  return material.value
}

function refusal(files: TlsFiles): string {
  const material = readTlsMaterial(files)
  return material.ok ? "not refused" : material.failure
}

function file(name: string, content: string): string {
  const path = join(authority.folder, name)
  writeFileSync(path, content)
  return path
}
