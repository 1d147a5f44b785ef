import { z } from "zod"
import { type AttestedTrial, SignedAttestation } from "../../execution/trial/attestation.ts"
import { tryParseJson } from "../../lib/parse-json.ts"

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

/** The one way in which an attestation is written, so that nothing in it can change unseen. */
export function lineOf({ payloadType, payload, signatures }: SignedAttestation): string {
  const signed = signatures.map(({ keyid, sig }) => ({ keyid, sig }))
  return JSON.stringify({ payloadType, payload, signatures: signed })
}

/** A trial that has ended, as the journal tells it. */
export type JournaledTrial = { sequence: number; envelope: SignedAttestation }

/**
 * The ledger with every trial that the journal knows, in the order of their numbers. What the
 * journal does not know stays, unless it is of another chain: it may be of another machine, and
 * verifying tells what it is. `known` saves reading again what was read before.
 */
export function mergeLedger(
  text: string,
  journaled: readonly JournaledTrial[],
  known: ReadonlyMap<string, AttestedTrial> = new Map(),
): string {
  const lines = new Map(journaled.map(({ sequence, envelope }) => [sequence, [lineOf(envelope)]]))
  const first = lines.values().next().value?.[0]
  const chain = first === undefined ? null : (placeOf(first, known)?.chain ?? null)
  const isJournaled = new Set(lines.keys())
  for (const { text: line } of linesOfLedger(text)) {
    const place = placeOf(line, known)
    if (place === null || isJournaled.has(place.sequence)) continue
    if (chain !== null && place.chain !== chain) continue
    const there = lines.get(place.sequence) ?? []
    if (!there.includes(line)) lines.set(place.sequence, [...there, line])
  }
  const sorted = [...lines].toSorted(([one], [other]) => one - other)
  return sorted.flatMap(([, those]) => those.map((line) => `${line}\n`)).join("")
}

const Placed = z.object({
  predicate: z.object({
    trial: z.object({ chain: z.string(), announcement: z.object({ sequence: z.int() }) }),
  }),
})

/** Null for what is no attestation: it has no place. */
function placeOf(
  line: string,
  known: ReadonlyMap<string, AttestedTrial>,
): { chain: string; sequence: number } | null {
  const trial = known.get(line) ?? readPlace(line)
  return trial === null ? null : { chain: trial.chain, sequence: trial.announcement.sequence }
}

function readPlace(line: string) {
  const envelope = SignedAttestation.safeParse(tryParseJson(line))
  if (!envelope.success) return null
  const payload = Buffer.from(envelope.data.payload, "base64").toString("utf8")
  return Placed.safeParse(tryParseJson(payload)).data?.predicate.trial ?? null
}
