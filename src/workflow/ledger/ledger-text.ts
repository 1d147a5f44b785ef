import { z } from "zod"
import {
  attestationType,
  SignedAttestation,
  type TrialOutline,
} from "../../execution/trial/attestation.ts"
import { tryParseJson } from "../../lib/parse-json.ts"

/** `FILE.intoto.jsonl`, beside the work. */
export function ledgerPathOf(workPath: string): string {
  return `${workPath}.intoto.jsonl`
}

export type LedgerLine = { number: number; text: string }

/** `before` lines stand before that text. */
export function linesOfLedger(text: string, before = 0): LedgerLine[] {
  return text
    .split("\n")
    .map((line, index) => ({ number: before + index + 1, text: line }))
    .filter((line) => line.text !== "")
}

/** The one way in which an attestation is written, so that nothing in it can change unseen. */
export function lineOf({ payloadType, payload, signatures }: SignedAttestation): string {
  const signed = signatures.map(({ keyid, sig }) => ({ keyid, sig }))
  return JSON.stringify({ payloadType, payload, signatures: signed })
}

const base64 = "[A-Za-z0-9+/=]+"
const signature = `\\{"keyid":"([0-9a-f]+)","sig":"(${base64})"\\}`
const payloadType = attestationType.replace(/[.+]/g, String.raw`\$&`)
const written = new RegExp(
  `^\\{"payloadType":"${payloadType}","payload":"(${base64})","signatures":\\[${signature}\\]\\}$`,
)

/** What `lineOf` was made of, without reading JSON; null for what is written in any other way. */
export function envelopeIn(line: string): SignedAttestation | null {
  const [, payload, keyid, sig] = written.exec(line) ?? []
  if (payload === undefined || keyid === undefined || sig === undefined) return null
  return { payloadType: attestationType, payload, signatures: [{ keyid, sig }] }
}

/** A trial that has ended, as the journal tells it. */
export type JournaledTrial = { sequence: number; envelope: SignedAttestation }

/**
 * What a ledger with these trials, in the order of their numbers, lacks at its end; null where
 * something is missing in between.
 */
export function additionTo(
  trials: readonly TrialOutline[],
  missing: readonly JournaledTrial[],
): string | null {
  const last = trials.at(-1)?.announcement.sequence ?? 0
  if (missing.some(({ sequence }) => sequence < last)) return null
  return missing.map(({ envelope }) => `${lineOf(envelope)}\n`).join("")
}

/**
 * The ledger with every trial that the journal knows, in the order of their numbers. What the
 * journal does not know stays, unless it is of another chain: it may be of another machine, and
 * verifying tells what it is.
 */
export function mergeLedger(text: string, journaled: readonly JournaledTrial[]): string {
  const lines = new Map(journaled.map(({ sequence, envelope }) => [sequence, [lineOf(envelope)]]))
  const first = lines.values().next().value?.[0]
  const chain = first === undefined ? null : (placeOf(first)?.chain ?? null)
  const isJournaled = new Set(lines.keys())
  for (const { text: line } of linesOfLedger(text)) {
    const place = placeOf(line)
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
function placeOf(line: string): { chain: string; sequence: number } | null {
  const envelope = SignedAttestation.safeParse(tryParseJson(line))
  if (!envelope.success) return null
  const payload = Buffer.from(envelope.data.payload, "base64").toString("utf8")
  const trial = Placed.safeParse(tryParseJson(payload)).data?.predicate.trial
  return trial === undefined ? null : { chain: trial.chain, sequence: trial.announcement.sequence }
}
