import { setImmediate } from "node:timers/promises"
import type { HandedTranscript } from "../../../../execution/handover.ts"
import type { StreamName, TranscriptFacts } from "../../../../execution/record.ts"
import { openOwned } from "../../../../lib/owned-file.ts"
import { hexOf, streamHashers } from "../chain.ts"
import { ChainWalk } from "../chain-walk.ts"
import { fileSize, readSegmentHeader, segmentPath, type TranscriptFiles } from "../segment-files.ts"
import type { OpenSegment } from "./open-segment.ts"
import { StreamTotals } from "./stream-totals.ts"
import type { Written } from "./written.ts"

/** Others have their turn after so much of a transcript: there may be a gigabyte of it. */
const atOnceBytes = 4 * 1024 * 1024

/**
 * What a writer needs to go on where another program has left off. The hash of a stream needs all
 * of the stream, so what was written is read once more, and checked on the way; where its beginning
 * is gone, those hashes are lost. Throws when the files are not what was handed over.
 */
export async function resumeWriting(
  files: TranscriptFiles,
  { facts, chain, discarded }: HandedTranscript & { facts: TranscriptFacts },
): Promise<Written> {
  const isWhole = facts.start.sequence === 0
  const hashers = isWhole ? await hashStreams(files, facts, chain) : null
  return {
    totals: new StreamTotals({
      stdout: { ...facts.stdout, hasher: hashers?.stdout ?? null },
      stderr: { ...facts.stderr, hasher: hashers?.stderr ?? null },
    }),
    discarded: { ...discarded },
    chain: Uint8Array.fromHex(chain),
    kept: facts.end.offset === 0 ? [] : keptSegments(files, facts),
  }
}

async function hashStreams(
  files: TranscriptFiles,
  { start, end }: TranscriptFacts,
  chain: string,
): Promise<Record<StreamName, Bun.CryptoHasher>> {
  const hashers = streamHashers()
  if (end.offset === 0) return hashers
  const walk = new ChainWalk(files, start.segment, end)
  let pauseAt = atOnceBytes
  while (walk.next()) {
    const { kind } = walk.record
    if (kind !== "resize") hashers[kind].update(walk.payload)
    if (walk.sequence < pauseAt) continue
    pauseAt = walk.sequence + atOnceBytes
    await setImmediate()
  }
  if (walk.end?.kind !== "complete" || hexOf(walk.chain) !== chain) {
    const why = walk.end?.kind === "broken" ? walk.end.why : "its chain ends otherwise"
    throw new Error(`the transcript is not what was handed over: ${why}`)
  }
  return hashers
}

function keptSegments(files: TranscriptFiles, { start, end }: TranscriptFacts): OpenSegment[] {
  const kept: OpenSegment[] = []
  for (let number = start.segment; number <= end.segment; number += 1) {
    const path = segmentPath(files, number)
    const header = readSegmentHeader(files, number)
    const fileBytes = fileSize(path)
    if (typeof header === "string" || fileBytes === null) {
      throw new Error(`the transcript is not what was handed over: segment ${number} is missing`)
    }
    const isLast = number === end.segment
    if (isLast && fileBytes !== end.offset) {
      const lengths = `${fileBytes} bytes long instead of ${end.offset}`
      throw new Error(`the transcript is not what was handed over: its end is ${lengths}`)
    }
    const fd = isLast ? openOwned(path, "change").fd : -1
    kept.push({ kind: "open", start: header, fd, fileBytes })
  }
  return kept
}
