import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto"
import { writeFileSync } from "node:fs"
import { isErrno, messageOf } from "../../../lib/errno.ts"
import { type OwnedFile, openOwned, readAll, replaceOwned } from "../../../lib/owned-file.ts"
import { keyIdOf } from "../../../lib/public-key.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import { isFileTrouble } from "../../../lib/untrusted-file.ts"
import { statePathsIn } from "../state-paths.ts"

export type SigningKey = { id: string; privateKey: KeyObject; publicKey: KeyObject }

/** `message` says what is wrong with which file, and what to do. */
export type SigningKeyFailure = {
  kind: "exposed" | "malformed" | "unreadable"
  path: string
  message: string
}

/** Only the holder of the state directory's lock may call it: two would make two keys. */
export function loadOrCreateSigningKey(
  stateDirectory: string,
): Result<SigningKey, SigningKeyFailure> {
  const path = statePathsIn(stateDirectory).receiptKey
  try {
    const file = openUnlessMissing(path)
    return file === null ? ok(create(path)) : load(file, path)
  } catch (error) {
    if (!isFileTrouble(error)) throw error
    return fail(unreadable(path, messageOf(error)))
  }
}

export function publicKeyPem(key: SigningKey): string {
  return key.publicKey.export({ type: "spki", format: "pem" })
}

function openUnlessMissing(path: string): OwnedFile | null {
  try {
    return openOwned(path, "read")
  } catch (error) {
    if (!isErrno(error, "ENOENT")) throw error
    return null
  }
}

/** Far more than such a key takes. */
const mostKeyBytes = 64 * 1024

function load(opened: OwnedFile, path: string): Result<SigningKey, SigningKeyFailure> {
  using file = opened
  if ((file.stat.mode & 0o077) !== 0) return fail(exposed(path))
  return parse(readAll(file, path, mostKeyBytes).toString("utf8"), path)
}

function parse(pem: string, path: string): Result<SigningKey, SigningKeyFailure> {
  try {
    const privateKey = createPrivateKey(pem)
    if (privateKey.asymmetricKeyType !== "ed25519") return fail(malformed(path))
    return ok(signingKeyOf(privateKey))
  } catch {
    return fail(malformed(path)) // the parser's errors have no common kind, and all mean this
  }
}

function create(path: string): SigningKey {
  const { privateKey } = generateKeyPairSync("ed25519")
  const pem = privateKey.export({ type: "pkcs8", format: "pem" })
  replaceOwned(path, (file) => writeFileSync(file, pem), { durable: true })
  return signingKeyOf(privateKey)
}

function signingKeyOf(privateKey: KeyObject): SigningKey {
  const publicKey = createPublicKey(privateKey)
  return { id: keyIdOf(publicKey), privateKey, publicKey }
}

function exposed(path: string): SigningKeyFailure {
  const message =
    `the receipt key ${path} is accessible to others than its owner, so its signatures prove ` +
    `nothing; if nobody could have read it, run: chmod 600 ${path}; otherwise remove it: ` +
    "the next start creates a new one, and older receipts stay signed by this one"
  return { kind: "exposed", path, message }
}

function malformed(path: string): SigningKeyFailure {
  const message =
    `the receipt key ${path} is not an Ed25519 private key in PEM; restore it from a backup, ` +
    "or remove it: the next start creates a new one"
  return { kind: "malformed", path, message }
}

function unreadable(path: string, why: string): SigningKeyFailure {
  const message = `the receipt key ${path} can be neither read nor created (${why})`
  return { kind: "unreadable", path, message }
}
