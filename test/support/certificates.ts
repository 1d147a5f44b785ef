import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export type IssuedCertificate = { cert: string; key: string }

export type Issue = {
  /** As openssl writes it: `/O=Acme/CN=alice`. */
  subject: string
  /** Negative: it has expired. */
  days?: number
  names?: string
}

/** An authority of its own in a folder of its own, made and used with openssl. */
export class Authority implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), "cc-executor-certificates-"))
  readonly ca = join(this.folder, "ca.pem")
  readonly #key = join(this.folder, "ca.key")
  #issued = 0

  constructor(name = "Test authority") {
    openssl(["req", "-x509", ...newKey(this.#key), "-subj", `/CN=${name}`, "-out", this.ca])
  }

  /** Paths of a certificate and its key. */
  issue({ subject, days = 30, names = "DNS:localhost,IP:127.0.0.1,IP:::1" }: Issue) {
    this.#issued += 1
    const path = (extension: string) => join(this.folder, `${this.#issued}.${extension}`)
    const request = path("csr")
    openssl(["req", "-new", ...newKey(path("key")), "-subj", subject, "-out", request])
    writeFileSync(path("ext"), `subjectAltName=${names}\n`)
    const signing = ["-CA", this.ca, "-CAkey", this.#key, "-CAcreateserial", "-days", String(days)]
    const out = ["-extfile", path("ext"), "-out", path("pem")]
    openssl(["x509", "-req", "-in", request, ...signing, ...out])
    return { cert: path("pem"), key: path("key") } satisfies IssuedCertificate
  }

  /** What a client says who trusts this authority, and shows a certificate if it has one. */
  trust(certificate?: IssuedCertificate): Bun.TLSOptions {
    const own =
      certificate === undefined
        ? {}
        : { cert: Bun.file(certificate.cert), key: Bun.file(certificate.key) }
    return { ca: Bun.file(this.ca), ...own }
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function newKey(path: string): string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", path]
}

function openssl(args: readonly string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["openssl", ...args], { stderr: "pipe" })
  if (exitCode !== 0) throw new Error(`openssl ${args.join(" ")}: ${stderr.toString()}`)
}
