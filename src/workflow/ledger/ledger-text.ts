import type { SignedAttestation } from "../../execution/trial/attestation.ts"

/** `FILE.intoto.jsonl`, beside the work. */
export function ledgerPathOf(workPath: string): string {
  return `${workPath}.intoto.jsonl`
}

export type LedgerLine = { number: number; text: string }

export function linesOfLedger(text: string): LedgerLine[] {
  return text
    .split("\n")
    .map((line, index) => ({ number: index + 1, text: line }))
    .filter((line) => line.text !== "")
}

/** A trial that has ended, as the journal tells it. */
export type JournaledTrial = { sequence: number; envelope: SignedAttestation }

/**
 * The ledger with every trial that the journal knows, in the order of their numbers. What stands
 * there already stays as it is to the byte; what the journal says differently, it says.
 */
export function mergeLedger(text: string, journaled: readonly JournaledTrial[]): string {
  return text + journaled.map(({ envelope }) => `${JSON.stringify(envelope)}\n`).join("")
}
