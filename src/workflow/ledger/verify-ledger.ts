import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import type { Digest } from "../../execution/trial/announcement.ts"
import type { Damage } from "./damage.ts"
import { linesOfLedger } from "./ledger-text.ts"

/** What a ledger must be about. */
export type LedgerContext = {
  name: string
  kind: "prompt" | "tasks"
  /** Where the work is, and was before it was moved; null where that cannot be known. */
  paths: ReadonlySet<string> | null
  publicKeys: readonly string[] // PEM; Ed25519
  journal: JournalView | null // null: it is of another machine
}

/** What the journal knows of the chain. */
export type JournalView = {
  head: { sequence: number; digest: Digest } | null
  open: readonly OpenTrial[] // announced, and not ended
}

export type OpenTrial = { sequence: number; item: string | null }

export type LedgerTrial = { line: number; trial: AttestedTrial }

export type VerifiedLedger = {
  trials: LedgerTrial[] // what is sound, by number; while there is damage, nothing of it counts
  damages: Damage[]
  notices: string[] // what could not be checked, in words
  open: readonly OpenTrial[]
  head: { sequence: number; digest: Digest } | null
}

/** Lines that were found sound before, by their text: a runner need not verify them again. */
export type KnownLines = Map<string, AttestedTrial>

export function verifyLedger(
  text: string,
  context: LedgerContext,
  known: KnownLines = new Map(),
): VerifiedLedger {
  const { journal } = context
  const damages = linesOfLedger(text).map(({ number }): Damage => {
    return { line: number, kind: "unreadable", reason: `not yet read: ${known.size}` }
  })
  return { trials: [], damages, notices: [], open: journal?.open ?? [], head: null }
}
