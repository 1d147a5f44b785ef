import type { Client } from "../../../client/connect.ts"
import type { Digest } from "../../../execution/trial/announcement.ts"
import type { JournaledTrial } from "../../ledger/ledger-text.ts"
import type { JournalView, OpenTrial } from "../../ledger/verify-ledger.ts"

/** Whose trials are asked for: of the chain that a ledger names, or of what stands at a path. */
export type ChainOf = { chain: Digest } | { path: string; name: string; kind: string }

/** What the journal knows, and a ledger with these numbers does not have. */
export type FromJournal = {
  view: JournalView
  missing: readonly JournaledTrial[]
  chain: Digest | null
}

const pageSize = 100

/** The journal is read only where the ledger has gaps, and behind its end. */
export async function askJournal(
  client: Client,
  of: ChainOf,
  has: ReadonlySet<number>,
): Promise<FromJournal> {
  const missing: JournaledTrial[] = []
  const open: OpenTrial[] = []
  let head: JournalView["head"] = null
  let chain: Digest | null = "chain" in of ? of.chain : null
  for (let from = nextGap(has, 1); ; ) {
    const page = await client.call("trial.list", { ...of, from, limit: pageSize })
    head = page.head
    for (const { announcement, envelope, chain: own } of page.trials) {
      chain = own
      const { sequence, work } = announcement
      if (envelope === null) open.push({ sequence, item: work.item ?? null })
      else if (!has.has(sequence)) missing.push({ sequence, envelope })
    }
    const last = page.trials.at(-1)?.announcement.sequence
    if (last === undefined || page.next === undefined) break
    from = nextGap(has, last + 1)
    if (head !== null && from > head.sequence) break
  }
  return { view: { head, open }, missing, chain }
}

function nextGap(has: ReadonlySet<number>, from: number): number {
  let at = from
  while (has.has(at)) at += 1
  return at
}
