import { setImmediate } from "node:timers/promises"
import type { ExecutionRecord } from "../../../execution/record.ts"
import type { JournalReader, ListPage, Viewer } from "../ports.ts"

// Arguments may be two megabytes long. A thousand such executions in one answer would be more than
// this process may hold, and more than a socket takes.
const enoughLength = 4 * 1024 * 1024
const recordsAtOnce = 8
/** A page for which more would have to be looked at is cut short, and goes on at its cursor. */
const mostLookedAt = 2000
/** Others have their turn after so long. */
const turnMs = 3

/** As many as were asked for, or fewer where they are large; another page goes on from there. */
export async function listPage(
  journal: Pick<JournalReader, "list">,
  filter: Parameters<JournalReader["list"]>[0],
  viewer: Viewer | null,
): Promise<ListPage | null> {
  const records: ExecutionRecord[] = []
  let { cursor } = filter
  const looks = { left: mostLookedAt }
  let length = 0
  let turnEndsMs = performance.now() + turnMs
  for (;;) {
    const limit = Math.min(recordsAtOnce, filter.limit - records.length)
    const part = journal.list({ ...filter, limit, cursor }, viewer, looks)
    if (part === null) return null
    records.push(...part.records)
    length += part.records.reduce((sum, record) => sum + lengthOf(record), 0)
    const isEnough = records.length >= filter.limit || length >= enoughLength || looks.left === 0
    if (part.cursor === null || isEnough) return { records, cursor: part.cursor }
    cursor = part.cursor
    if (performance.now() < turnEndsMs) continue
    await setImmediate()
    turnEndsMs = performance.now() + turnMs
  }
}

/** What has no bound of its own but that of a message. */
function lengthOf({ spec }: ExecutionRecord): number {
  const texts = [spec.command ?? "", spec.cwd, ...spec.argv, ...spec.envNames]
  return texts.reduce((sum, text) => sum + text.length, 0)
}
