import { setImmediate } from "node:timers/promises"
import type { SessionEvidence } from "../../../../execution/evidence/session-evidence.ts"
import type { StreamName, TranscriptFacts, TranscriptHashes } from "../../../../execution/record.ts"
import type { Verification } from "../../../../execution/verdict.ts"
import type { Sought } from "../../../gateway/ports.ts"
import { genesisOf, hexOf, streamHashers } from "../chain.ts"
import { ChainWalk } from "../chain-walk.ts"
import {
  fileSize,
  readSegmentHeader,
  segmentNumbers,
  segmentPath,
  type TranscriptFiles,
} from "../segment-files.ts"
import { type ByteSearch, createByteSearch } from "./byte-search.ts"
import { locateByte } from "./seek.ts"

type BrokenChain = Extract<Verification["chain"], { kind: "broken-at" }>

// About 3 ms of hashing: other clients of the process are served between two slices.
const sliceBytes = 2 * 1024 * 1024
const recordCostBytes = 512 // what a record takes even when it is empty, in bytes hashed
const evidenceCost = 16 // how much longer a byte takes when it is read as well

const isGone = "the transcript is gone"

/** Checks every byte that is kept, from the files alone, against what the journal says of them. */
export async function verifyTranscript(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  sought: Sought,
): Promise<Verification> {
  const numbers = segmentNumbers(files)
  if (facts.end.offset === 0)
    return { chain: verifyEmpty(files, numbers ?? [], sought), found: null }
  // A link in its place is not followed.
  if (numbers === null) return { chain: brokenAt(facts.start.sequence, isGone), found: null }

  const walk = new ChainWalk(files, facts.start.segment, facts.end)
  const searches = sought.contains === undefined ? null : searchesFor(sought.contains)
  const evidence = await evidenceFor(sought, facts)
  const hashers = sought.hashes !== null && facts.start.sequence === 0 ? streamHashers() : null
  let spent = 0
  while (walk.next()) {
    const { record, payload } = walk
    if (record.kind !== "resize") {
      hashers?.[record.kind].update(payload)
      searches?.[record.kind].push(payload)
      if (record.kind === "stdout") evidence?.push(payload)
    }
    spent += (record.length + recordCostBytes) * (evidence === null ? 1 : evidenceCost)
    if (spent < sliceBytes) continue
    spent = 0
    await setImmediate()
  }

  const forgotten = sought.hashes === null ? forgottenUnder(files, walk) : null
  if (forgotten !== null) return verifyFrom(files, facts, sought, forgotten)
  const broken = breakOf(files, walk, facts) ?? differenceOf(files, walk, facts, sought, hashers)
  const { sequence } = facts.start
  return {
    chain: broken ?? (sequence === 0 ? { kind: "intact" } : { kind: "intact-from", sequence }),
    found: searches === null ? null : foundBy(files, facts, walk, searches),
    evidence: evidence?.findings(),
  }
}

/** Loaded where it is asked for. */
async function evidenceFor(
  { executed }: Sought,
  { start }: TranscriptFacts,
): Promise<SessionEvidence | null> {
  if (executed === undefined) return null
  const module = await import("../../../../execution/evidence/session-evidence.ts")
  return new module.SessionEvidence(executed, start.sequence > 0)
}

type PerStream<Value> = Record<StreamName, Value>

function searchesFor(needle: Uint8Array): PerStream<ByteSearch> {
  return { stdout: createByteSearch(needle), stderr: createByteSearch(needle) }
}

function verifyEmpty(
  files: TranscriptFiles,
  numbers: number[],
  { hashes }: Sought,
): { kind: "intact" } | BrokenChain {
  if (hashes === null) return { kind: "intact" }
  if (numbers.length > 0) return brokenAt(0, "there is output where none was recorded")
  const { stdout, stderr } = streamHashers()
  const chain = hexOf(genesisOf(files.executionId))
  const why = hashDifference(
    { chain, stdout: stdout.digest("hex"), stderr: stderr.digest("hex") },
    hashes,
  )
  return why === null ? { kind: "intact" } : brokenAt(0, why)
}

/**
 * While it runs, what the walk stands on may be forgotten: then it goes on with the oldest segment.
 */
function forgottenUnder(files: TranscriptFiles, walk: ChainWalk): number | null {
  if (walk.end?.kind !== "missing-segment") return null
  const [oldest] = segmentNumbers(files) ?? []
  return oldest !== undefined && oldest > walk.segment ? oldest : null
}

function verifyFrom(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  sought: Sought,
  segment: number,
): Verification | Promise<Verification> {
  const header = readSegmentHeader(files, segment)
  if (header === "missing") return verifyTranscript(files, facts, sought)
  const { sequence } = facts.start
  if (header === "damaged") {
    return { chain: brokenAt(sequence, "the oldest segment is damaged"), found: null }
  }
  const start = { segment, offset: 0, sequence: header.sequence, lines: header.lines }
  if (segment > facts.end.segment) {
    return { chain: { kind: "intact-from", sequence: header.sequence }, found: null }
  }
  return verifyTranscript(files, { ...facts, start }, sought)
}

function breakOf(
  files: TranscriptFiles,
  walk: ChainWalk,
  facts: TranscriptFacts,
): BrokenChain | null {
  const { start } = facts
  const isAtStart = walk.offset === 0 && walk.segment === start.segment
  const sequence = isAtStart ? start.sequence : walk.sequence
  if (walk.end?.kind === "broken") return brokenAt(sequence, walk.end.why)
  if (walk.end?.kind === "missing-segment") {
    const isAllGone = segmentNumbers(files) === null
    return brokenAt(sequence, isAllGone ? isGone : `segment ${walk.segment} is missing`)
  }
  const isSameStart = walk.start.sequence === start.sequence && walk.start.lines === start.lines
  return isSameStart ? null : brokenAt(start.sequence, "it does not begin where the record says")
}

/** A chain can be sound in itself and yet not the one that was written: cut short, or longer. */
function differenceOf(
  files: TranscriptFiles,
  walk: ChainWalk,
  facts: TranscriptFacts,
  { hashes }: Sought,
  hashers: PerStream<Bun.CryptoHasher> | null,
): BrokenChain | null {
  if (!walk.hasCounted(facts))
    return brokenAt(walk.sequence, "it does not hold as much as was recorded")
  if (hashes === null) return null
  const size = fileSize(segmentPath(files, facts.end.segment))
  const isLonger = size !== facts.end.offset || hasSegmentAfter(files, facts.end.segment)
  if (isLonger) return brokenAt(walk.sequence, "something was added after its end")
  const why = hashDifference(
    {
      chain: hexOf(walk.chain),
      stdout: hashers?.stdout.digest("hex") ?? hashes.stdout,
      stderr: hashers?.stderr.digest("hex") ?? hashes.stderr,
    },
    hashes,
  )
  return why === null ? null : brokenAt(walk.sequence, why)
}

function hasSegmentAfter(files: TranscriptFiles, segment: number): boolean {
  return (segmentNumbers(files) ?? []).some((number) => number > segment)
}

function hashDifference(actual: TranscriptHashes, claimed: TranscriptHashes): string | null {
  if (actual.chain !== claimed.chain) return "its chain is not the one that was recorded"
  if (actual.stdout !== claimed.stdout) return "stdout differs from the record"
  return actual.stderr === claimed.stderr ? null : "stderr differs from the record"
}

function foundBy(
  files: TranscriptFiles,
  facts: TranscriptFacts,
  walk: ChainWalk,
  searches: PerStream<ByteSearch>,
): Verification["found"] {
  const streams = ["stdout", "stderr"] as const
  const all = streams.flatMap((stream) => {
    const offset = searches[stream].result()
    if (offset === null) return []
    const position = locateByte(files, facts, stream, walk.bytesBefore[stream] + offset)
    return position === null
      ? []
      : [{ stream, sequence: position.sequence, time: new Date(position.timeMs) }]
  })
  return all.toSorted((one, other) => one.sequence - other.sequence)[0] ?? null
}

function brokenAt(sequence: number, why: string): BrokenChain {
  return { kind: "broken-at", sequence, why }
}
