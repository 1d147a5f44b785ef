import { createHash, createPublicKey, type KeyObject } from "node:crypto"

/** Null for what is no Ed25519 key in PEM. */
export function readPublicKey(pem: string): KeyObject | null {
  try {
    const key = createPublicKey(pem)
    return key.asymmetricKeyType === "ed25519" ? key : null
  } catch {
    return null // the parser's errors have no common kind, and all mean this
  }
}

/** The beginning of the SHA-256 of the key's DER: what an envelope calls its key. */
export function keyIdOf(publicKey: KeyObject): string {
  const der = publicKey.export({ type: "spki", format: "der" })
  return createHash("sha256").update(der).digest("hex").slice(0, 16)
}

/** Many texts decode to the same bytes; only the one that was written is taken. */
export function fromBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, "base64")
  return bytes.toString("base64") === text ? bytes : null
}
