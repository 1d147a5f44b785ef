import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { readFileSync, statSync } from "node:fs"
import { errnoOf } from "../../../lib/errno.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"

/** Where the service's certificate is, and whose client certificates it wants. */
export type TlsFiles = {
  cert: string
  key: string
  /** Null: clients need no certificate. */
  clientCa: string | null
  /** Which settings they come from. */
  flags?: TlsFlags
}

type TlsFlags = { cert: string; key: string; clientCa: string }

const clientFlags: TlsFlags = {
  cert: "--tls-cert",
  key: "--tls-key",
  clientCa: "--tls-client-ca",
}

/** What was read from the files, and fits together. */
export type TlsMaterial = {
  cert: string
  key: string
  clientCa: string | null
  expiresAt: Date
  /** SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` shows it. */
  fingerprint: string
  /** What is not wrong enough to refuse it. */
  warnings: string[]
}

/** Reads the files; a failure says what is wrong with which of them, and what to do. */
export function readTlsMaterial(files: TlsFiles): Result<TlsMaterial, string> {
  const flags = files.flags ?? clientFlags
  const cert = readPem(flags.cert, files.cert)
  if (!cert.ok) return cert
  const key = readPem(flags.key, files.key)
  if (!key.ok) return key
  const certificates = certificatesIn(flags.cert, files.cert, cert.value)
  if (!certificates.ok) return certificates
  const privateKey = privateKeyIn(flags.key, files.key, key.value)
  if (!privateKey.ok) return privateKey
  const [own] = certificates.value
  if (!own.checkPrivateKey(privateKey.value)) {
    return fail(
      `${flags.key} ${files.key} does not match the first certificate in ${flags.cert} ` +
        `${files.cert}: use its own key, and put the service's own certificate ` +
        "before its intermediates.",
    )
  }
  const clientCa = readClientCa(flags.clientCa, files.clientCa)
  if (!clientCa.ok) return clientCa
  return ok({
    cert: cert.value,
    key: key.value,
    clientCa: clientCa.value,
    expiresAt: own.validToDate,
    fingerprint: own.fingerprint256,
    warnings: keyWarnings(flags.key, files.key),
  })
}

function readPem(flag: string, path: string): Result<string, string> {
  try {
    return ok(readFileSync(path, "utf8"))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === null) throw error
    return fail(`${flag} ${path} cannot be read (${errno}): use a file that this user can read.`)
  }
}

type Certificates = readonly [X509Certificate, ...X509Certificate[]]

function certificatesIn(flag: string, path: string, pem: string): Result<Certificates, string> {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    const [first, ...others] = blocks.map((block) => new X509Certificate(block))
    if (first !== undefined) return ok([first, ...others])
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return fail(`${flag} ${path} contains an invalid certificate: ${error.message}.`)
  }
  return fail(`${flag} ${path} contains no certificate: use a PEM file, with BEGIN CERTIFICATE.`)
}

function privateKeyIn(flag: string, path: string, pem: string): Result<KeyObject, string> {
  if (/^(?:-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED)/m.test(pem)) {
    return fail(
      `${flag} ${path} is encrypted, and the service cannot ask for the passphrase: decrypt it ` +
        `with \`openssl pkey -in ${path} -out NEW\`, and make NEW readable for this user only.`,
    )
  }
  try {
    return ok(createPrivateKey(pem))
  } catch (error) {
    if (!(error instanceof Error)) throw error
    return fail(`${flag} ${path} contains no private key: use a PEM file, with BEGIN PRIVATE KEY.`)
  }
}

function readClientCa(flag: string, path: string | null): Result<string | null, string> {
  if (path === null) return ok(null)
  const pem = readPem(flag, path)
  if (!pem.ok) return pem
  const certificates = certificatesIn(flag, path, pem.value)
  return certificates.ok ? pem : certificates
}

/** A key on a volume of a container may be unable to have another mode, so it is only said. */
function keyWarnings(flag: string, path: string): string[] {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  if ((mode & 0o077) === 0) return []
  return [`${flag} ${path} can be read by other users of this machine: run \`chmod 600 ${path}\``]
}
