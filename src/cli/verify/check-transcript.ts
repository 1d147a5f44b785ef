import type { TranscriptFacts, TranscriptHashes } from "../../execution/record.ts"
import { type Claim, judge, type Verdict } from "../../execution/verdict.ts"
import { verifyTranscript } from "../../service/storage/transcript/read/verify.ts"
import type { TranscriptFiles } from "../../service/storage/transcript/segment-files.ts"

/** What is said of the output: by the receipt where there is one, else by the journal. */
export type Recorded = { transcript: TranscriptFacts; hashes: TranscriptHashes | null }

/** The same answer as the service's `transcript.verify`, from the files alone. */
export async function checkTranscript(
  files: TranscriptFiles,
  { transcript, hashes }: Recorded,
  claim: Claim,
): Promise<Verdict> {
  const contains =
    claim.contains === undefined ? undefined : new TextEncoder().encode(claim.contains)
  const verification = await verifyTranscript(files, transcript, { contains, hashes })
  return judge(verification, claim, hashes)
}
