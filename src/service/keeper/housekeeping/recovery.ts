import type { ExecutionRecord } from "../../../execution/record.ts"
import { countText } from "../../../lib/count-text.ts"
import type { Clock, Journal, ReceiptSigner, Redaction, Sweep, TranscriptStore } from "../ports.ts"
import { endedRecord } from "../supervision/ended-record.ts"
import { restartAfterLoss } from "./restart-after-loss.ts"

/**
 * Gives every execution that a dead keeper left without an end its true one: `lost`, with the
 * reason, its tree ended, and its transcript cut back to the last whole record.
 */
export async function recover(ports: {
  journal: Journal
  transcripts: TranscriptStore
  signer: ReceiptSigner
  clock: Clock
  redaction: Redaction | null
  sweep: (records: readonly ExecutionRecord[]) => Promise<ReadonlyMap<string, Sweep>>
}): Promise<ExecutionRecord[]> {
  const { journal, transcripts, signer, clock, redaction, sweep } = ports
  removeStrays(journal, transcripts)
  const unfinished = journal.unfinished()
  const sweeps = await sweep(unfinished)
  return unfinished.map((found) => {
    const transcript = transcripts.recover(found.id)
    const swept = sweeps.get(found.id)
    const event = { kind: "lost" as const, reason: lossReason(found, transcript?.truncatedBytes) }
    const left = { ...found, transcript: transcript?.facts ?? found.transcript }
    const ending = {
      use: found.use,
      hashes: transcript?.hashes ?? null,
      survivors: swept?.survivors ?? [],
      endedAt: clock.now().toISOString(),
    }
    const restart = restartAfterLoss(found, clock.now())
    const ended = endedRecord(left, [event], ending, redaction)
    const record = restart === null ? ended : { ...ended, restart }
    journal.end([event], record, signer.sign(record))
    return record
  })
}

/** A crash between the journal's forgetting and the disk's leaves files that belong to nobody. */
function removeStrays(journal: Journal, transcripts: TranscriptStore): void {
  for (const id of transcripts.all()) if (journal.find(id) === null) transcripts.remove(id)
}

function lossReason(record: ExecutionRecord, truncatedBytes = 0): string {
  if (record.state.kind === "queued") return "not started: the service ended while it was queued"
  const cut =
    truncatedBytes === 0
      ? ""
      : `; ${countText(truncatedBytes, "byte")} at the end of its transcript could not be read back`
  const uncounted = uncountedIn(record).join(" and ")
  const since =
    uncounted === "" ? "" : `; ${uncounted} since its last journaled event is not counted`
  return `the service ended without stopping it; what was left of its tree was killed${cut}${since}`
}

/** What the journal is not told of each time, and no file keeps: the record must not claim it. */
function uncountedIn({ spec, state, redacted }: ExecutionRecord): string[] {
  const isDropping = state.kind === "stopping" && state.cause === "disk-full"
  return [
    ...(spec.stdin === "pipe" ? ["input"] : []),
    ...(isDropping ? ["dropped output"] : []),
    ...(redacted === null ? [] : ["redacted output"]),
  ]
}
