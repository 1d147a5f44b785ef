import type { Detail } from "../../../execution/notify-target.ts"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { PendingDelivery } from "../outbox-port.ts"
import type { TranscriptReader } from "../ports.ts"
import { questionNow } from "./message.ts"

const mostOutputBytes = 4096
const mostCommandCharacters = 4096
const mostInputCharacters = 8192

/** What a target has asked to be told beside the facts, as the record has it: redacted. */
export function detailsOf(
  include: readonly Detail[],
  { notice }: PendingDelivery,
  record: ExecutionRecord,
  transcripts: Pick<TranscriptReader, "read" | "tail">,
): Record<string, unknown> {
  const details: Record<string, unknown> = {}
  if (include.includes("command")) details["command"] = shortWords(record.spec.argv)
  if (include.includes("labels")) details["labels"] = record.spec.labels
  if (include.includes("output")) details["output"] = lastOutput(record, transcripts)
  if (include.includes("question") && notice.kind === "question") {
    const { question } = questionNow(notice.subject, record)
    if (question !== null) {
      const { title, description, input } = question
      const isShort = JSON.stringify(input ?? null).length <= mostInputCharacters
      details["question_details"] = { title, description, input: isShort ? input : null }
    }
  }
  return details
}

function shortWords(words: readonly string[]): string[] {
  let left = mostCommandCharacters
  return words.flatMap((word) => {
    if (left <= 0) return []
    const part = word.slice(0, left)
    left -= part.length
    return [part]
  })
}

/** The end of what it wrote, both streams as they came; null where it is not kept any more. */
function lastOutput(
  { id, transcript }: ExecutionRecord,
  transcripts: Pick<TranscriptReader, "read" | "tail">,
): string | null {
  let position = transcripts.tail(id, transcript, { bytes: mostOutputBytes })
  const pieces: Uint8Array[] = []
  for (;;) {
    const read = transcripts.read(id, position, transcript)
    if (read.kind === "forgotten") position = read.next
    else if (read.kind === "piece") {
      pieces.push(read.piece.bytes.slice())
      position = read.piece.next
    } else if (read.kind === "at-end") break
    else return null
  }
  return Buffer.concat(pieces).subarray(-mostOutputBytes).toString("utf8")
}
