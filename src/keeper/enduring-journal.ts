import type { ExecutionRecord } from "../execution/record.ts"
import type { ExecutionEvent } from "../execution/state.ts"
import { elapse } from "./elapse.ts"
import type { Clock, Journal, Log, ReceiptSigner } from "./ports.ts"

const retryMs = 500

export type EnduringJournal = {
  write: (event: ExecutionEvent | null, record: ExecutionRecord) => void
  end: (event: ExecutionEvent, record: ExecutionRecord) => Promise<void>
  /** Any other write; false when there is no room for it, and then nothing was written. */
  withRoom: (write: () => void) => boolean
  /** How many ends could not be written so far, and are tried again and again. */
  waitingEnds: () => number
}

/**
 * The journal on a disk that may be full. Room is made once for every write. An event on the way
 * may still be missing then, and the log says so: after a crash the execution would be `lost`,
 * which is true. An end is never given up: nobody is told of it before it is written.
 */
export function enduringJournal(
  journal: Journal,
  signer: ReceiptSigner,
  ports: { clock: Clock; log: Log; isFull(error: unknown): boolean; makeRoom(): void },
): EnduringJournal {
  let waitingEnds = 0
  return {
    withRoom,
    write(event, record) {
      const written = withRoom(() => {
        if (event === null) journal.update(record)
        else journal.append(event, record)
      })
      if (written) return
      const facts = { executionId: record.id, event: event?.kind ?? "update" }
      ports.log.error(facts, "disk full: an event could not be journaled")
    },
    async end(event, record) {
      const receipt = signer.sign(record)
      const written = () => withRoom(() => journal.end(event, record, receipt))
      if (written()) return
      ports.log.error({ executionId: record.id }, "disk full: an end waits to be journaled")
      waitingEnds += 1
      do await elapse(ports.clock, retryMs, null)
      while (!written())
      waitingEnds -= 1
    },
    waitingEnds: () => waitingEnds,
  }

  function withRoom(write: () => void): boolean {
    for (const isLast of [false, true]) {
      try {
        write()
        return true
      } catch (error) {
        if (!ports.isFull(error)) throw error
        if (!isLast) ports.makeRoom()
      }
    }
    return false
  }
}
