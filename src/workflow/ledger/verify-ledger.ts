import type { Digest } from "../../execution/trial/announcement.ts"
import type { AttestedTrial } from "../../execution/trial/attestation.ts"
import { chainDamages } from "./check-chain.ts"
import { checkLine } from "./check-line.ts"
import type { KnownReceipts } from "./check-steps.ts"
import type { Damage } from "./damage.ts"
import { readPublicKeys } from "./envelope.ts"
import { linesOfLedger } from "./ledger-text.ts"

/** What a ledger must be about. */
export type LedgerContext = {
  name: string
  kind: "prompt" | "tasks"
  /** Where the work is, and was before it was moved; null where that cannot be known. */
  paths: ReadonlySet<string> | null
  publicKeys: readonly string[] // Ed25519, PEM
  journal: JournalView | null // null: its chain is not in the journal here
  /** What a service has signed can be written without asking whether it follows from receipts. */
  signaturesOnly?: boolean
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
  chain: Digest | null
  head: { sequence: number; digest: Digest } | null // the last one that is here
}

/** Lines that were found sound with the same keys, by their text: they stay so. */
export type KnownLines = Map<string, AttestedTrial>

export function verifyLedger(
  text: string,
  context: LedgerContext,
  known: KnownLines = new Map(),
): VerifiedLedger {
  const { journal } = context
  const keys = readPublicKeys(context.publicKeys)
  const receipts: KnownReceipts | null = context.signaturesOnly === true ? null : new Map()
  const sound: LedgerTrial[] = []
  const damages: Damage[] = []
  for (const { number, text: line } of linesOfLedger(text)) {
    const earlier = known.get(line)
    const checked = earlier === undefined ? checkLine(line, keys, receipts) : null
    if (checked?.ok === false) {
      damages.push({ line: number, ...checked.failure })
      continue
    }
    const trial = checked?.value ?? earlier
    if (trial === undefined) continue
    known.set(line, trial)
    const stranger = workDamage(number, trial, context)
    if (stranger === null) sound.push({ line: number, trial })
    else damages.push(stranger)
  }
  const all = [...damages, ...chainDamages(sound, damages.length, journal)]
  const trials = sound.toSorted((one, other) => sequenceOf(one) - sequenceOf(other))
  const last = trials.at(-1)?.trial
  return {
    trials,
    damages: all.toSorted((one, other) => (one.line ?? Infinity) - (other.line ?? Infinity)),
    notices: noticesOf(trials, context),
    open: journal?.open ?? [],
    chain: last?.chain ?? null,
    head:
      last === undefined
        ? null
        : { sequence: last.announcement.sequence, digest: last.announcement_digest },
  }
}

function sequenceOf({ trial }: LedgerTrial): number {
  return trial.announcement.sequence
}

function workDamage(
  line: number,
  { announcement }: AttestedTrial,
  { name, kind, paths }: LedgerContext,
): Damage | null {
  const { work } = announcement
  if (work.name !== name || work.kind !== kind) {
    const reason = `it is about the ${work.kind} ${work.name}, and this is the ${kind} ${name}`
    return { line, kind: "work", reason }
  }
  if (paths === null || paths.has(work.path)) return null
  return { line, kind: "work", reason: `it is about ${work.path}, which is another file` }
}

function noticesOf(trials: readonly LedgerTrial[], { journal }: LedgerContext): string[] {
  const last = trials.at(-1)
  if (last === undefined) return []
  if (journal === null) {
    const after = `whether there were trials after ${sequenceOf(last)}`
    return [`the journal here does not know these trials: ${after} cannot be checked here`]
  }
  const end = journal.head?.sequence ?? 0
  if (sequenceOf(last) <= end) return []
  return [`the journal here knows the trials up to ${end}: the later ones are of another machine`]
}
