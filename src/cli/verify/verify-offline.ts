import { existsSync, realpathSync } from "node:fs"
import { identify } from "../../execution/identify.ts"
import type { Receipt } from "../../execution/receipt.ts"
import type { ExecutionRecord, TranscriptFacts, TranscriptHashes } from "../../execution/record.ts"
import type { ExecutionSpec } from "../../execution/spec.ts"
import {
  type Claim,
  checkClaim,
  type Verdict as TranscriptVerdict,
} from "../../execution/verdict.ts"
import { tryParseJson } from "../../lib/parse-json.ts"
import { localPrincipal } from "../../service/access/caller.ts"
import { openJournalReader } from "../../service/storage/journal/journal-reader.ts"
import type { StatePaths } from "../../service/storage/state-paths.ts"
import { verifyTranscript } from "../../service/storage/transcript/read/verify.ts"
import { filesOf, type TranscriptFiles } from "../../service/storage/transcript/segment-files.ts"
import { CommandFailure, orFailLater } from "../failure.ts"
import { checkReceipt, type Keys } from "./check-receipt.ts"
import { type Verdict, verdictOf } from "./verdict.ts"

/** From the files of a state directory whose service does not run. */
export async function verifyStored(
  paths: StatePaths,
  given: string,
  keys: Keys,
  claim: Claim,
): Promise<Verdict> {
  const opened = openJournalReader(paths.journal)
  if (!opened.ok) throw new CommandFailure(`${opened.failure.message}.`)
  using journal = opened.value
  const record = find(journal, given)
  const { id, hashes } = record
  const envelope = journal.receipt(id)
  const { check, receipt } =
    envelope === null
      ? { check: { status: "unchecked", why: "there is none" } as const, receipt: null }
      : checkReceipt(envelope, keys, { executionId: id, hashes })
  const files = filesOf(paths.transcripts, id)
  refuseOfCommand(claim, record.spec)
  return verdictOf(
    id,
    await checkTranscript(files, receipt === null ? ofRecord(record) : ofReceipt(receipt), claim),
    check,
  )
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
    if (Object.values(claim).every((text) => text === undefined)) {
      return verdictOf(executionId, null, check)
    }
    throw new CommandFailure("A claim about the output needs the output. Give --transcript DIR.")
  }
  if (!existsSync(transcriptDirectory)) {
    throw new CommandFailure(`There is no directory ${transcriptDirectory}.`)
  }
  const files = { directory: realpathSync(transcriptDirectory), executionId }
  refuseOfCommand(claim, receipt.spec)
  return verdictOf(executionId, await checkTranscript(files, ofReceipt(receipt), claim), check)
}

type JournalReader = Extract<ReturnType<typeof openJournalReader>, { ok: true }>["value"]

/** As a local service would find it for its own user. */
function find(journal: JournalReader, given: string): ExecutionRecord {
  const identified = identify(given, localPrincipal, {
    withName: (name) => journal.withName(name, localPrincipal),
    withPrefix: (prefix, limit) => journal.withPrefix(prefix, limit),
  })
  if (identified.kind === "ambiguous") throw new CommandFailure(identified.message)
  const record = identified.kind === "found" ? journal.find(identified.id) : null
  if (record === null) throw new CommandFailure(`Unknown execution: ${JSON.stringify(given)}.`)
  return record
}

/** What is said of the output: by the receipt where there is one, else by the journal. */
type Recorded = {
  transcript: TranscriptFacts
  hashes: TranscriptHashes | null
  hasOwnUser: boolean
}

function ofReceipt({ transcript, hashes, ran_as }: Receipt): Recorded {
  return { transcript, hashes, hasOwnUser: !ran_as.same_user_as_service }
}

function ofRecord({ transcript, hashes, ranAs }: ExecutionRecord): Recorded {
  return { transcript, hashes, hasOwnUser: ranAs !== undefined && ranAs.uid !== process.getuid?.() }
}

function refuseOfCommand({ executed }: Claim, { agent }: ExecutionSpec): void {
  if (executed === undefined || agent !== undefined) return
  throw new CommandFailure("It is a command, not an agent's session. Use --contains instead.")
}

/** The same answer as the service's `transcript.verify`, from the files alone. */
async function checkTranscript(
  files: TranscriptFiles,
  { transcript, hashes, hasOwnUser }: Recorded,
  claim: Claim,
): Promise<TranscriptVerdict> {
  const contains =
    claim.contains === undefined ? undefined : new TextEncoder().encode(claim.contains)
  const { executed } = claim
  const verification = await orFailLater(
    verifyTranscript(files, transcript, { contains, executed, hashes }),
    (errno) => `The transcript in ${files.directory} cannot be read (${errno}).`,
  )
  return checkClaim(verification, claim, hashes, hasOwnUser)
}
