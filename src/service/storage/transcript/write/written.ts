import { type Count, type Position, startOfTranscript } from "../../../../execution/record.ts"
import { genesisOf } from "../chain.ts"
import type { TranscriptFiles } from "../segment-files.ts"
import type { OpenSegment } from "./open-segment.ts"
import { StreamTotals } from "./stream-totals.ts"

export type Written = {
  totals: StreamTotals
  /** Read, but never recorded. */
  discarded: Count
  chain: Uint8Array
  /** Oldest first; records go to the last one, the only one that is open. */
  kept: OpenSegment[]
}

export function nothingWritten(files: TranscriptFiles): Written {
  const discarded = { bytes: 0, lines: 0 }
  return { totals: new StreamTotals(), discarded, chain: genesisOf(files.executionId), kept: [] }
}

export function startOf([oldest]: Written["kept"]): Position {
  if (oldest === undefined) return { ...startOfTranscript }
  const { number, sequence, lines } = oldest.start
  return { segment: number, offset: 0, sequence, lines }
}

export function endOf(kept: Written["kept"], { sequence, lines }: StreamTotals): Position {
  const current = kept.at(-1)
  if (current === undefined) return { ...startOfTranscript }
  return { segment: current.start.number, offset: current.fileBytes, sequence, lines }
}
