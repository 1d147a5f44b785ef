import { write } from "node:fs"
import { isatty, WriteStream } from "node:tty"
import { errnoOf, isErrno } from "../../lib/errno.ts"
import { BrokenPipeError, type Output } from "../context.ts"

const retryMs = 5

/**
 * Writes in order, one piece at a time, on a thread of the runtime: whoever awaits goes at the
 * reader's pace, and signals are heard meanwhile. Bun's process.stdout would make a pipe
 * non-blocking for everybody who shares it, the shell included.
 */
export function descriptorOutput(fd: 1 | 2): Output {
  const isTty = isatty(fd)
  let turn: Promise<void> = Promise.resolve()
  return {
    isTty,
    width() {
      if (!isTty) return null
      const [columns] = new WriteStream(fd).getWindowSize()
      return columns > 0 ? columns : null
    },
    write(data) {
      const bytes = typeof data === "string" ? Buffer.from(data) : data
      const done = turn.then(() => writeAll(fd, bytes))
      turn = done.catch(() => undefined) // a failure is told to its writer alone
      return done
    },
  }
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  let written = 0
  while (written < bytes.length) {
    try {
      written += await writeOnce(fd, bytes.subarray(written))
    } catch (error) {
      // Somebody who shares the descriptor may have made it non-blocking.
      if (isErrno(error, "EAGAIN", "EINTR")) await Bun.sleep(retryMs)
      else if (isErrno(error, "EPIPE", "EIO")) throw new BrokenPipeError(`${errnoOf(error)}`)
      else throw error
    }
  }
}

function writeOnce(fd: number, bytes: Uint8Array): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  write(fd, bytes, (error, written) => (error === null ? resolve(written) : reject(error)))
  return promise
}
