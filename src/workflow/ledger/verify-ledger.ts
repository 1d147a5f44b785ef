import type { Digest } from "../../execution/trial/announcement.ts"
import type { TrialOutline } from "../../execution/trial/attestation.ts"
import type { Work } from "../documents/work-kind.ts"
import { chainDamages } from "./check-chain.ts"
import { type CheckedLine, type LedgerReading, LineChecker } from "./checked-lines.ts"
import type { Damage } from "./damage.ts"
import { linesOfLedger } from "./ledger-text.ts"

/** What a ledger must be about. */
export type LedgerContext = LedgerReading & {
  name: string
  kind: Work["kind"]
  /** Where the work is, and was before it was moved; null where that cannot be known. */
  paths: ReadonlySet<string> | null
  journal: JournalView | null // null: its chain is not in the journal here
}

/** What the journal knows of the chain. */
export type JournalView = {
  head: { sequence: number; digest: Digest } | null
  open: readonly OpenTrial[] // announced, and not ended
}

export type OpenTrial = { sequence: number; item: string | null }

export type LedgerTrial = { line: number; trial: TrialOutline }

export type VerifiedLedger = {
  trials: LedgerTrial[] // what is sound, by number; while there is damage, nothing of it counts
  damages: Damage[]
  notices: string[] // what could not be checked, in words
  open: readonly OpenTrial[]
  chain: Digest | null
  head: { sequence: number; digest: Digest } | null // the last one that is here
}

export function verifyLedger(text: string, context: LedgerContext): VerifiedLedger {
  const checker = new LineChecker(context)
  return verifyLines(
    linesOfLedger(text).map((line) => checker.check(line)),
    context,
  )
}

/** What lines come to that were each looked at by themselves. */
export function verifyLines(
  lines: readonly CheckedLine[],
  context: Omit<LedgerContext, keyof LedgerReading>,
): VerifiedLedger {
  const { journal } = context
  const sound: LedgerTrial[] = []
  const damages: Damage[] = []
  for (const { number: line, checked } of lines) {
    if (!checked.ok) {
      damages.push({ line, ...checked.failure })
      continue
    }
    const trial = checked.value
    const stranger = workDamage(line, trial, context)
    if (stranger === null) sound.push({ line, trial })
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
  { announcement }: TrialOutline,
  { name, kind, paths }: Pick<LedgerContext, "name" | "kind" | "paths">,
): Damage | null {
  const { work } = announcement
  if (work.name !== name || work.kind !== kind) {
    const reason = `it is about the ${work.kind} ${work.name}, and this is the ${kind} ${name}`
    return { line, kind: "work", reason }
  }
  if (paths === null || paths.has(work.path)) return null
  return { line, kind: "work", reason: `it is about ${work.path}, which is another file` }
}

function noticesOf(
  trials: readonly LedgerTrial[],
  { journal }: Pick<LedgerContext, "journal">,
): string[] {
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
