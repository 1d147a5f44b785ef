import type { TrialOutline } from "../../execution/trial/attestation.ts"
import type { Result } from "../../lib/result.ts"
import { checkLine, checkSignature } from "./check-line.ts"
import type { KnownReceipts } from "./check-steps.ts"
import type { LineFault } from "./damage.ts"
import { type PublicKeys, readPublicKeys } from "./envelope.ts"
import type { LedgerLine } from "./ledger-text.ts"

/** Whom a reader of a ledger trusts, and how much is asked of each line. */
export type LedgerReading = {
  publicKeys: readonly string[] // Ed25519, PEM
  /** What a service has signed can be written without asking whether it follows from receipts. */
  signaturesOnly?: boolean
}

/** A line of a ledger, and what it is by itself. */
export type CheckedLine = { number: number; checked: Result<TrialOutline, LineFault> }

/** Of one ledger, whose lines may come one after the other. */
export class LineChecker {
  readonly #keys: PublicKeys
  /** Null where they are not looked at. */
  readonly #receipts: KnownReceipts | null

  constructor({ publicKeys, signaturesOnly = false }: LedgerReading) {
    this.#keys = readPublicKeys(publicKeys)
    this.#receipts = signaturesOnly ? null : new Map()
  }

  check({ number, text }: LedgerLine): CheckedLine {
    const checked =
      this.#receipts === null
        ? checkSignature(text, this.#keys)
        : checkLine(text, this.#keys, this.#receipts)
    return { number, checked }
  }
}
