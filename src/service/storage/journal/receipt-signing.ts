import assert from "node:assert/strict"
import { sign, verify } from "node:crypto"
import { z } from "zod"
import { Receipt, receiptOf, SignedReceipt, signedBytes } from "../../../execution/receipt.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { fromBase64, keyIdOf, readPublicKey } from "../../../lib/public-key.ts"
import type { ReceiptSigner } from "../../keeper/ports.ts"
import type { SigningKey } from "./signing-key.ts"

const payloadType = "application/vnd.cc-executor.receipt+json"

export function createReceiptSigner(key: SigningKey, uid: number): ReceiptSigner {
  return {
    sign(record) {
      const receipt = receiptOf(record, uid)
      assert(receipt !== null, `execution ${record.id} has not ended: nothing to attest`)

      const payload = Buffer.from(JSON.stringify(receipt))
      const signature = sign(null, signedBytes(payloadType, payload), key.privateKey)
      return {
        payloadType,
        payload: payload.toString("base64"),
        signatures: [{ keyid: key.id, sig: signature.toString("base64") }],
      }
    },
  }
}

export type ReceiptVerification =
  | { kind: "valid"; trust: "trusted" | "self-attested"; receipt: Receipt }
  | { kind: "invalid"; why: string }

// Stricter than DSSE asks: nothing in an envelope may be added or changed unseen, not even what
// the signature does not cover.
const Envelope = SignedReceipt.extend({
  signatures: z.tuple([z.strictObject({ keyid: z.string(), sig: z.string() })]),
}).strict()

/**
 * A trusted key alone decides when one is given. The service's own key shows only that the service,
 * or whoever could read that key, made the receipt.
 */
export function verifyReceipt(
  envelope: unknown,
  trustedPublicKeyPem: string | null,
  ownPublicKeyPem: string | null,
): ReceiptVerification {
  const pem = trustedPublicKeyPem ?? ownPublicKeyPem
  if (pem === null) return invalid("there is no public key to verify it with")
  const key = readPublicKey(pem)
  if (key === null) return invalid("the public key given is not an Ed25519 key in PEM")

  const parsed = Envelope.safeParse(envelope)
  if (!parsed.success) return invalid(`it is not a signed receipt: ${firstIssue(parsed.error)}`)
  const { payload, signatures } = parsed.data
  const [{ keyid, sig }] = signatures
  if (keyid !== keyIdOf(key)) return invalid(`it names the key ${keyid}, not ${keyIdOf(key)}`)

  const bytes = fromBase64(payload)
  const signature = fromBase64(sig)
  if (bytes === null || signature === null) return invalid("its base64 is not as it was written")
  if (!verify(null, signedBytes(payloadType, bytes), key, signature)) {
    return invalid("the signature does not match: the receipt or the signature was changed")
  }
  return readReceipt(bytes, trustedPublicKeyPem === null ? "self-attested" : "trusted")
}

function readReceipt(bytes: Buffer, trust: "trusted" | "self-attested"): ReceiptVerification {
  const receipt = Receipt.safeParse(tryParseJson(bytes.toString("utf8")))
  if (receipt.success) return { kind: "valid", trust, receipt: receipt.data }
  return invalid(
    `it is signed, but not a receipt that this program knows: ${firstIssue(receipt.error)}`,
  )
}

function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0]
  return issue === undefined ? error.message : `${issue.path.join(".")}: ${issue.message}`
}

function invalid(why: string): ReceiptVerification {
  return { kind: "invalid", why }
}
