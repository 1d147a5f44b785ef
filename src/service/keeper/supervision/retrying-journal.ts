import type { ExecutionRecord } from "../../../execution/record.ts"
import type { ExecutionEvent } from "../../../execution/state.ts"
import type { Log } from "../../../lib/log.ts"
import type { Clock, Journal, ReceiptSigner } from "../ports.ts"
import { sleep } from "../sleep.ts"

const retryMs = 500

export type RetryingJournal = {
  write: (event: ExecutionEvent | null, record: ExecutionRecord) => void
  /** Resolves when it would survive a loss of power, too. */
  end: (events: readonly ExecutionEvent[], record: ExecutionRecord) => Promise<void>
  /** A write that makes room, or ends something: false when even the reserve had no room. */
  withReserve: (write: () => void) => boolean
  /** A start: false when there is no room, and then nothing was written. */
  withoutReserve: (write: () => void) => boolean
  /** What was written survives a loss of power; where the disk fails, the log says so. */
  sync: () => Promise<void>
  /** How many ends could not be written yet and are retried. */
  unwrittenEnds: () => number
}

/**
 * The journal on a disk that may be full. Room is made once for every write, and a reserve is there
 * for those that lead to ends. An event on the way may still be missing then, and the log says so:
 * after a crash the execution would be `lost`, which is true. An end is never given up: nobody is
 * told of it before it is written.
 */
export function openRetryingJournal(
  journal: Journal,
  signer: ReceiptSigner,
  ports: {
    clock: Clock
    log: Log
    isFull(error: unknown): boolean
    makeRoom(): void
    openReserve(): void
    /** What is left of it must not go into somebody's output. */
    closeReserve(): void
  },
): RetryingJournal {
  let unwrittenEnds = 0
  return {
    withReserve,
    withoutReserve(write) {
      const isWritten = withoutReserve(write)
      if (isWritten) void sync() // not waited for: the disk would take longer than the start
      return isWritten
    },
    write(event, record) {
      const written = withReserve(() => {
        if (event === null) journal.update(record)
        else journal.append(event, record)
      })
      // One that has run must not be taken for queued after a loss of power.
      if (event?.kind === "started") void sync()
      if (written) return
      const facts = { executionId: record.id, event: event?.kind ?? "update" }
      ports.log.error(facts, "disk full: an event could not be journaled")
    },
    async end(events, record) {
      const receipt = signer.sign(record)
      const written = () => withReserve(() => journal.end(events, record, receipt))
      if (!written()) {
        ports.log.error({ executionId: record.id }, "disk full: waiting to journal an end")
        unwrittenEnds += 1
        do await sleep(ports.clock, retryMs, null)
        while (!written())
        unwrittenEnds -= 1
      }
      await sync()
    },
    sync,
    unwrittenEnds: () => unwrittenEnds,
  }

  /** Does not fail: where the disk does, the log says so. */
  async function sync(): Promise<void> {
    try {
      await journal.sync()
    } catch (err) {
      ports.log.error({ err }, "journal not synced: a loss of power may cost its last entries")
    }
  }

  function withReserve(write: () => void): boolean {
    if (withoutReserve(write)) return true
    ports.openReserve()
    const isWritten = fits(write)
    ports.closeReserve()
    return isWritten
  }

  function withoutReserve(write: () => void): boolean {
    if (fits(write)) return true
    ports.makeRoom()
    return fits(write)
  }

  function fits(write: () => void): boolean {
    try {
      write()
      return true
    } catch (error) {
      if (!ports.isFull(error)) throw error
      return false
    }
  }
}
