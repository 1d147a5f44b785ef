import { write } from "node:fs"
import { isatty } from "node:tty"
import { type LogDestination, lossCounter, reasonOf } from "./destination.ts"

// Up to so much (PIPE_BUF) is written whole or not at all, also where two processes share a pipe.
const atomicBytes = 4096
const queueBytes = 4 * 1024 * 1024
const retryMs = 20
const patienceMs = 1000

type Waiting = { bytes: Buffer; worth: number }

/**
 * Standard output, or another descriptor. Its reader may stall for good, and a blocking write would
 * then stall every execution. So lines wait in a bounded queue, and a worker thread of the runtime
 * waits for the reader. At the bound the newest lines are lost, counted.
 */
export function standardOutput(fd = 1): LogDestination {
  const { countLoss, takeLoss } = lossCounter()
  const queue: Waiting[] = []
  let queuedBytes = 0
  let insideLine = false
  let draining: Promise<void> | null = null

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const { bytes, worth } = takeBatch(queue)
      // A line that was cut off when the disk was full must not swallow the next one.
      const { written, reason } = await writeAll(fd, insideLine ? prefixed("\n", bytes) : bytes)
      queuedBytes -= bytes.length
      if (reason !== null) countLoss({ lostLines: worth, reason })
      if (written > 0) insideLine = reason !== null
    }
    draining = null
  }

  /** Waits as long as the reader reads: the end of a process must not hang on one that stalls. */
  async function flush(): Promise<void> {
    const before = queuedBytes
    if (before === 0) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, patienceMs)
    await Promise.race([draining, late])
    clearTimeout(timer)
    if (queuedBytes < before) await flush()
  }

  return {
    isTerminal: isatty(fd),
    write(line, worth) {
      const bytes = Buffer.from(line)
      if (queuedBytes + bytes.length > queueBytes) {
        countLoss({ lostLines: worth, reason: "the reader is too slow" })
        return
      }
      queue.push({ bytes, worth })
      queuedBytes += bytes.length
      draining ??= drain()
    },
    countLoss,
    takeLoss,
    flush,
    [Symbol.asyncDispose]: flush,
  }
}

/** As many lines as can be written atomically, at least one. */
function takeBatch(queue: Waiting[]): Waiting {
  let count = 0
  let size = 0
  let worth = 0
  for (const waiting of queue) {
    if (count > 0 && size + waiting.bytes.length > atomicBytes) break
    count += 1
    size += waiting.bytes.length
    worth += waiting.worth
  }
  const lines = queue.splice(0, count).map((waiting) => waiting.bytes)
  return { bytes: Buffer.concat(lines, size), worth }
}

function prefixed(prefix: string, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(prefix), bytes])
}

async function writeAll(
  fd: number,
  bytes: Buffer,
): Promise<{ written: number; reason: string | null }> {
  let written = 0
  while (written < bytes.length) {
    const piece = await writeOnce(fd, bytes.subarray(written))
    if (piece.reason === null) written += piece.written
    else if (piece.reason !== "EAGAIN") return { written, reason: piece.reason }
    // Whoever shares the descriptor may have made it non-blocking; Bun's process.stdout does.
    else await Bun.sleep(retryMs)
  }
  return { written, reason: null }
}

function writeOnce(fd: number, bytes: Buffer): Promise<{ written: number; reason: string | null }> {
  const { promise, resolve } = Promise.withResolvers<{ written: number; reason: string | null }>()
  write(fd, bytes, (error, written) =>
    resolve(error === null ? { written, reason: null } : { written: 0, reason: reasonOf(error) }),
  )
  return promise
}
