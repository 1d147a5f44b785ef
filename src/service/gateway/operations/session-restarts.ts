import type { ExecutionRecord } from "../../../execution/record.ts"
import { delay } from "../../../lib/delay.ts"
import { messageOf } from "../../../lib/errno.ts"
import type { Log } from "../../../lib/log.ts"
import { fail, type Result } from "../../../lib/result.ts"
import { SerialQueue } from "../../../lib/serial-queue.ts"
import type { JournalReader, TranscriptReader } from "../ports.ts"
import type { KeeperLink } from "./keeper-link.ts"
import { unfinishedWork } from "./unfinished-work.ts"

/** Where the service has no room for it, a restart is tried again after this long. */
const retryMs = 5_000
/** No wait is longer, however the clock was set meanwhile. */
const longestMs = 600_000

export type RestartPorts = {
  link: Pick<KeeperLink, "call">
  /** Null for a gateway that is told to end before it could read it. */
  journal: () => Pick<JournalReader, "find" | "openRestarts"> | null
  transcripts: Pick<TranscriptReader, "read">
  log: Log
  now: () => Date
  /** Nobody goes on with anything after this. */
  ended: AbortSignal
}

/**
 * Has the keeper go on with every session that ended with the service before this one. What is to
 * be done stands in the journal: a gateway that dies in the middle of it loses nothing.
 */
export async function restartSessions(ports: RestartPorts): Promise<void> {
  const journal = ports.journal()
  if (journal === null) return
  const pending = journal.openRestarts().filter(({ restart }) => restart?.kind === "pending")
  const reads = new SerialQueue()
  const { transcripts } = ports
  const readWork = (record: ExecutionRecord) =>
    reads.run(() => unfinishedWork(record, journal, transcripts).catch(unreadable))
  await Promise.all(pending.map((record) => restartSession(record, readWork, ports)))
}

async function restartSession(
  record: ExecutionRecord,
  readWork: (record: ExecutionRecord) => ReturnType<typeof unfinishedWork>,
  ports: RestartPorts,
): Promise<void> {
  const { id: executionId, restart } = record
  const notBefore = restart?.kind === "pending" ? Date.parse(restart.notBefore) : 0
  let waitMs = Math.min(longestMs, Math.max(0, notBefore - ports.now().getTime()))
  while (true) {
    await delay(waitMs, ports.ended)
    if (ports.ended.aborted) return
    const read = await readWork(record)
    const work = read.ok ? read.value : { unreadable: read.failure }
    const answer = await ports.link.call("restart", { executionId, work })
    if (answer.ok) {
      const { restart: outcome } = answer.value
      const { log } = ports
      if (outcome.kind === "restarted") log.info({ executionId, ...outcome }, "session restarted")
      else log.warn({ executionId, ...outcome }, "session interrupted")
      return
    }
    const { reason, message } = answer.failure
    ports.log.warn({ executionId, reason, message }, "session not restarted yet")
    if (reason === "PROCESS_NOT_FOUND") return // somebody has removed it meanwhile
    waitMs = retryMs
  }
}

/** What the disk says of one transcript is no reason to stop serving. */
function unreadable(error: unknown): Result<never, string> {
  return fail(`Its log cannot be read: ${messageOf(error)}.`)
}
