import { type Receipt, SignedReceipt } from "../../execution/receipt.ts"
import type { TranscriptHashes } from "../../execution/record.ts"
import { verifyReceipt } from "../../service/storage/journal/receipt-signing.ts"
import type { ReceiptCheck } from "./verdict.ts"

/** Public keys in PEM: one that is trusted for its own sake, and the one the service uses. */
export type Keys = { trusted: string | null; own: string | null }

export type CheckedReceipt = { check: ReceiptCheck; receipt: Receipt | null }

/** Checks the signature, and that the receipt is about what is being verified. */
export function checkReceipt(
  envelope: unknown,
  keys: Keys,
  expected: { executionId: string | null; hashes: TranscriptHashes | null },
): CheckedReceipt {
  if (keys.trusted === null && keys.own === null) {
    const why = "there is no key to check it with; use --public-key FILE"
    return { check: { status: "unchecked", why }, receipt: null }
  }
  const verification = verifyReceipt(envelope, keys.trusted, keys.own)
  if (verification.kind === "invalid") return invalid(verification.why)
  const { receipt, trust } = verification
  const { executionId, hashes } = expected
  if (executionId !== null && receipt.execution_id !== executionId) {
    return invalid(`it is for another execution, ${receipt.execution_id}`)
  }
  if (hashes !== null && !isSame(receipt.hashes, hashes)) {
    return invalid("its hashes differ from those in the journal")
  }
  return { check: { status: trust, key: keyIdIn(envelope) }, receipt }
}

function keyIdIn(envelope: unknown): string {
  return SignedReceipt.parse(envelope).signatures[0]?.keyid ?? ""
}

function invalid(why: string): CheckedReceipt {
  return { check: { status: "invalid", why }, receipt: null }
}

function isSame(one: TranscriptHashes | null, other: TranscriptHashes): boolean {
  return (
    one !== null &&
    one.chain === other.chain &&
    one.stdout === other.stdout &&
    one.stderr === other.stderr
  )
}
