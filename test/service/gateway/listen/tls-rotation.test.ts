import { afterAll, describe, expect, test } from "bun:test"
import { copyFileSync, renameSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TlsFiles, TlsMaterial } from "../../../../src/service/gateway/listen/tls-material.ts"
import { TlsRotation } from "../../../../src/service/gateway/listen/tls-rotation.ts"
import { Authority, type IssuedCertificate } from "../../../support/certificates.ts"
import { QuietLog } from "../../../support/quiet-log.ts"
import { temporaryFolder } from "../../../support/temporary-folder.ts"
import { until } from "../../../support/until.ts"
import { materialOf } from "./terminator-setup.ts"

const authority = new Authority()
const first = authority.issue({ subject: "/CN=first" })
const second = authority.issue({ subject: "/CN=second" })

afterAll(() => authority[Symbol.dispose]())

describe("when certificate and key are replaced", () => {
  test("the new ones are used", async () => {
    using watched = watch(first)

    watched.put(second)

    await until("the new one", () => watched.used.length === 1)
    expect(watched.used[0]?.fingerprint).toBe(materialOf({ ...second, clientCa: null }).fingerprint)
    expect(watched.log.entries).toContainEqual({
      level: "info",
      facts: { fingerprint: watched.used[0]?.fingerprint, expiresAt: expect.any(String) },
      event: "tls certificate replaced",
    })
  })

  test("behind a link, as renewal tools do it", async () => {
    using folder = temporaryFolder()
    const link = { cert: join(folder.path, "cert"), key: join(folder.path, "key") }
    symlinkSync(first.cert, link.cert)
    symlinkSync(first.key, link.key)
    using watched = watch(first, { ...link, clientCa: null })

    for (const part of ["cert", "key"] as const) {
      symlinkSync(second[part], `${link[part]}.new`)
      renameSync(`${link[part]}.new`, link[part])
    }

    await until("the new one", () => watched.used.length === 1)
  })

  test("the same files written again are no news", async () => {
    using watched = watch(first)

    watched.put(first)
    watched.put(second)

    await until("the new one", () => watched.used.length > 0)
    expect(watched.log.events).toEqual(["tls certificate replaced"])
  })
})

describe("what does not fit", () => {
  test("is told with the reason, and the old one stays until it does", async () => {
    using watched = watch(first)

    copyFileSync(second.cert, watched.files.cert)
    await until("the complaint", () => watched.log.entries.length === 1)
    expect(watched.log.entries[0]).toMatchObject({
      level: "error",
      event: "tls certificate not replaced: keeping the old one",
      facts: { why: expect.stringContaining("does not match the first certificate") },
    })
    expect(watched.used).toEqual([])

    copyFileSync(second.key, watched.files.key)
    await until("the new one", () => watched.used.length === 1)
  })

  test("and what is gone, or nonsense", async () => {
    using watched = watch(first)

    unlinkSync(watched.files.key)
    await until("the complaint", () => watched.log.entries.length === 1)
    writeFileSync(watched.files.key, "nonsense")
    await until("the next", () => watched.log.entries.length === 2)

    const [gone, nonsense] = watched.log.entries.map(({ facts }) => String(facts["why"]))
    expect(gone).toContain("cannot be read (ENOENT)")
    expect(nonsense).toContain("contains no private key")
    expect(watched.used).toEqual([])
  })

  test("and what the server will not take", async () => {
    using watched = watch(first)
    watched.refuse("no such curve")

    watched.put(second)

    await until("the complaint", () => watched.log.entries.length === 1)
    expect(watched.log.events).toEqual(["tls certificate not replaced: keeping the old one"])
  })
})

describe("a certificate that expires", () => {
  test.each([
    [15, []],
    [13, ["tls certificate expires soon"]],
    [-1, ["tls certificate has expired: clients will refuse it"]],
  ])("in %p days is warned of: %p", (days, events) => {
    using watched = watch(authority.issue({ subject: "/CN=short", days }))

    expect(watched.log.events).toEqual(events)
  })
})

/** Copies of the files, and what becomes of them; looked at without delay. */
function watch(pair: IssuedCertificate, given?: TlsFiles) {
  const folder = temporaryFolder()
  const files = given ?? {
    cert: join(folder.path, "cert.pem"),
    key: join(folder.path, "key.pem"),
    clientCa: null,
  }
  const put = ({ cert, key }: IssuedCertificate) => {
    copyFileSync(cert, files.cert)
    copyFileSync(key, files.key)
  }
  if (given === undefined) put(pair)
  let fault: string | null = null
  const log = new QuietLog()
  const used: TlsMaterial[] = []
  const watched = {
    files,
    log,
    used,
    put,
    refuse(why: string) {
      fault = why
    },
    [Symbol.dispose]() {
      rotation[Symbol.dispose]()
      folder[Symbol.dispose]()
    },
  }
  const material = { ...materialOf(files), warnings: [] }
  const use = (taken: TlsMaterial) => {
    if (fault !== null) throw new Error(fault)
    used.push(taken)
  }
  const rotation = new TlsRotation({ files, material, use, log, lookEveryMs: 20 })
  return watched
}
