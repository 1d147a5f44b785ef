import { existsSync } from "node:fs"
import { ExecutionIdPrefix } from "../../execution/id.ts"
import type { ExecutionRecord, TranscriptFacts, TranscriptHashes } from "../../execution/record.ts"
import {
  type Claim,
  checkClaim,
  type Verdict as TranscriptVerdict,
} from "../../execution/verdict.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { openJournalReader } from "../../service/storage/journal/journal-reader.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { verifyTranscript } from "../../service/storage/transcript/read/verify.ts"
import { filesOf, type TranscriptFiles } from "../../service/storage/transcript/segment-files.ts"
import { CommandFailure } from "../failure.ts"
import { checkReceipt, type Keys } from "./check-receipt.ts"
import { type Verdict, verdictOf } from "./verdict.ts"

/** From the files of a state directory whose service does not run. */
export async function verifyStored(
  paths: StatePaths,
  prefix: string,
  keys: Keys,
  claim: Claim,
): Promise<Verdict> {
  const opened = openJournalReader(paths.journal)
  if (!opened.ok) throw new CommandFailure(`${opened.failure.message}.`)
  using journal = opened.value
  const record = findByPrefix(journal, prefix)
  const { id, hashes } = record
  const envelope = journal.receipt(id)
  const { check, receipt } =
    envelope === null
      ? { check: { status: "unchecked", why: "there is none" } as const, receipt: null }
      : checkReceipt(envelope, keys, { executionId: id, hashes })
  const files = filesOf(paths.transcripts, id)
  return verdictOf(id, await checkTranscript(files, receipt ?? record, claim), check)
}

/** From a receipt and a transcript that were kept anywhere. */
export async function verifyFiles(
  receiptText: string,
  transcriptDirectory: string | undefined,
  keys: Keys,
  claim: Claim,
): Promise<Verdict> {
  const { check, receipt } = checkReceipt(tryParseJson(receiptText), keys, {
    executionId: null,
    hashes: null,
  })
  if (receipt === null) return verdictOf("unknown", null, check)
  const { execution_id: executionId } = receipt
  if (transcriptDirectory === undefined) {
    if (claim.contains === undefined && claim.hash === undefined) {
      return verdictOf(executionId, null, check)
    }
    throw new CommandFailure("A claim about the output needs the output. Give --transcript DIR.")
  }
  if (!existsSync(transcriptDirectory)) {
    throw new CommandFailure(`There is no directory ${transcriptDirectory}.`)
  }
  const files = { directory: transcriptDirectory, executionId }
  return verdictOf(executionId, await checkTranscript(files, receipt, claim), check)
}

type JournalReader = Extract<ReturnType<typeof openJournalReader>, { ok: true }>["value"]

function findByPrefix(journal: JournalReader, prefix: string): ExecutionRecord {
  const isPrefix = ExecutionIdPrefix.safeParse(prefix).success
  const [only, other] = isPrefix ? journal.withPrefix(prefix, 2) : []
  if (other !== undefined) {
    throw new CommandFailure(`Several executions begin with ${prefix}. Give more of the id.`)
  }
  const record = only === undefined ? null : journal.find(only)
  if (record === null) throw new CommandFailure(`Unknown execution: "${prefix}".`)
  return record
}

/** What is said of the output: by the receipt where there is one, else by the journal. */
type Recorded = { transcript: TranscriptFacts; hashes: TranscriptHashes | null }

/** The same answer as the service's `transcript.verify`, from the files alone. */
async function checkTranscript(
  files: TranscriptFiles,
  { transcript, hashes }: Recorded,
  claim: Claim,
): Promise<TranscriptVerdict> {
  const contains =
    claim.contains === undefined ? undefined : new TextEncoder().encode(claim.contains)
  const verification = await verifyTranscript(files, transcript, { contains, hashes })
  return checkClaim(verification, claim, hashes)
}
