import { type KeyObject, verify } from "node:crypto"
import { signedBytes } from "../../execution/receipt.ts"
import { fromBase64, keyIdOf, readPublicKey } from "../../lib/public-key.ts"
import { fail, ok, type Result } from "../../lib/result.ts"

/** By the name that envelopes give them. */
export type PublicKeys = ReadonlyMap<string, KeyObject>

/** What is no such key has signed nothing. */
export function readPublicKeys(pems: readonly string[]): PublicKeys {
  const keys = pems.map(readPublicKey).filter((key) => key !== null)
  return new Map(keys.map((key) => [keyIdOf(key), key]))
}

/** A DSSE envelope. */
export type Envelope = {
  payloadType: string
  payload: string
  signatures: readonly { keyid: string; sig: string }[]
}

export type EnvelopeFault = { kind: "key" | "signature"; reason: string }

/** What an envelope holds, once it is known who has signed it. */
export function openEnvelope(
  { payloadType, payload, signatures }: Envelope,
  keys: PublicKeys,
): Result<string, EnvelopeFault> {
  const [signature, further] = signatures
  if (signature === undefined || further !== undefined) {
    return fail({ kind: "signature", reason: "it does not have exactly one signature" })
  }
  const key = keys.get(signature.keyid)
  if (key === undefined) {
    const reason = `it is signed by the key ${signature.keyid}, which is not trusted here`
    return fail({ kind: "key", reason })
  }
  const bytes = fromBase64(payload)
  const sig = fromBase64(signature.sig)
  if (bytes === null || sig === null || !verify(null, signedBytes(payloadType, bytes), key, sig)) {
    const reason = "the signature does not match: it was changed after it was signed"
    return fail({ kind: "signature", reason })
  }
  return ok(bytes.toString("utf8"))
}
