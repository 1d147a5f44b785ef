import { z } from "zod"
import { ExecutionId } from "../../../execution/id.ts"
import { Announcement, Digest, TrialVerdict } from "../../../execution/trial/announcement.ts"
import { SignedAttestation } from "../../../execution/trial/attestation.ts"
import type { RecordedTrial } from "../../../execution/trial/recorded-trial.ts"
import { tryParseJson } from "../../../lib/parse-json.ts"
import { JournalDamagedError } from "./journal-failure.ts"

export const trialColumns = "id, chain, digest, lease_ms, runner, announcement, verdict, envelope"

const TrialRow = z.object({
  id: z.string(),
  chain: Digest,
  digest: Digest,
  lease_ms: z.int(),
  runner: ExecutionId.nullable(),
  announcement: z.string(),
  verdict: TrialVerdict.nullable(),
  envelope: z.string().nullable(),
})

export function parseTrialRow(row: unknown, path: string): RecordedTrial {
  const { id, chain, digest, lease_ms: leaseMs, runner, verdict, ...texts } = TrialRow.parse(row)
  const announcement = Announcement.safeParse(tryParseJson(texts.announcement))
  if (!announcement.success) throw damaged(id, path, announcement.error)
  const told = { announcement: announcement.data, chain, digest, leaseMs, runner }
  if (verdict === null || texts.envelope === null) return { ...told, ended: null }
  const envelope = SignedAttestation.safeParse(tryParseJson(texts.envelope))
  if (!envelope.success) throw damaged(id, path, envelope.error)
  return { ...told, ended: { verdict, envelope: envelope.data } }
}

function damaged(id: string, path: string, error: z.ZodError): JournalDamagedError {
  const why = z.prettifyError(error).replaceAll("\n", " ")
  return new JournalDamagedError(`trial ${id}`, path, why)
}
