import { sign } from "node:crypto"
import { signedBytes } from "../../../execution/receipt.ts"
import { attestationType } from "../../../execution/trial/attestation.ts"
import type { AttestationSigner } from "../../keeper/trial-store.ts"
import type { SigningKey } from "./signing-key.ts"

/** Signs the verdicts on trials, with the key of receipts. */
export function createAttestationSigner(key: SigningKey): AttestationSigner {
  return {
    keyId: key.id,
    sign(statement) {
      const payload = Buffer.from(JSON.stringify(statement))
      const signature = sign(null, signedBytes(attestationType, payload), key.privateKey)
      return {
        payloadType: attestationType,
        payload: payload.toString("base64"),
        signatures: [{ keyid: key.id, sig: signature.toString("base64") }],
      }
    },
  }
}
