import type { Digest } from "../../execution/trial/announcement.ts"
import type { TrialOutline } from "../../execution/trial/attestation.ts"
import { type Counts, countsOf } from "./counts.ts"
import type { Damage } from "./damage.ts"
import type { OpenTrial, VerifiedLedger } from "./verify-ledger.ts"

export type VersionSummary = {
  version: Digest
  counts: Counts
  first: number // numbers of its trials
  last: number
  at: string // when its last trial was judged
}

/** What a ledger shows. While it is damaged, nothing of it counts. */
export type LedgerSummary = {
  damages: readonly Damage[]
  notices: readonly string[]
  trials: readonly TrialOutline[] // by number
  open: readonly OpenTrial[]
  life: Counts
  versions: readonly VersionSummary[] // in the order in which they were first tried
  lastAt: string | null
  costUsd: number | null // of all sessions of agents; null where there was none
  costPerSuccessUsd: number | null
}

export function summarize(ledger: VerifiedLedger): LedgerSummary {
  const { damages, notices, open } = ledger
  const trials = damages.length > 0 ? [] : ledger.trials.map(({ trial }) => trial)
  const life = countsOf(trials.map(({ verdict }) => verdict))
  const costUsd = costOf(trials)
  return {
    damages,
    notices,
    trials,
    open,
    life,
    costUsd,
    versions: versionsOf(trials),
    lastAt: trials.at(-1)?.judged_at ?? null,
    costPerSuccessUsd: costUsd === null || life.success === 0 ? null : costUsd / life.success,
  }
}

function costOf(trials: readonly TrialOutline[]): number | null {
  const costs = trials.flatMap(({ steps }) =>
    steps.flatMap(({ session, reused }) => (session === null || reused ? [] : session.cost_usd)),
  )
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)
}

function versionsOf(trials: readonly TrialOutline[]): VersionSummary[] {
  const byVersion = Map.groupBy(trials, ({ announcement }) => announcement.version)
  return [...byVersion].map(([version, those]) => ({
    version,
    counts: countsOf(those.map(({ verdict }) => verdict)),
    first: those[0]?.announcement.sequence ?? 0,
    last: those.at(-1)?.announcement.sequence ?? 0,
    at: those.at(-1)?.judged_at ?? "",
  }))
}

export const emptySummary: LedgerSummary = summarize({
  trials: [],
  damages: [],
  notices: [],
  open: [],
  chain: null,
  head: null,
})
