import { type ExecutionRecord, hasEnded } from "../../../execution/record.ts"
import { ok } from "../../../lib/result.ts"
import type { Answer, JournalReader } from "../ports.ts"
import type { KeeperLink } from "./keeper-link.ts"

/**
 * The journal knows states; how far a live one has come only the keeper knows. Where that does not
 * answer, what the journal says of a live one may not be true any more, and is not told.
 */
export async function freshest(
  records: ExecutionRecord[],
  link: KeeperLink,
  journal: JournalReader,
): Answer<ExecutionRecord[]> {
  const unfinished = records.filter((record) => !hasEnded(record))
  const [only, second] = unfinished
  if (only === undefined) return ok(records)
  const answer =
    second === undefined
      ? await link.call("find", { executionId: only.id })
      : await link.call("live", {})
  if (!answer.ok) return answer
  const { value } = answer
  const found = "records" in value ? value.records : value.record === null ? [] : [value.record]
  const byId = new Map(found.map((record) => [record.id, record]))
  // One that is not live any more has ended since: the journal knows by now.
  const fresh = records.map((record) => {
    if (hasEnded(record)) return record
    return byId.get(record.id) ?? journal.find(record.id) ?? record
  })
  return ok(fresh)
}
