import { closeSync } from "node:fs"
import type { ChildOutput } from "../keeper/ports.ts"

/**
 * Reads our end of a child's pipe. Bun keeps a duplicate of the descriptor for its stream and
 * closes that one at the end; ours can go as soon as the stream has been opened.
 */
export function readPipe(readFd: number): ChildOutput {
  const reader = Bun.file(readFd).stream().getReader()
  closeSync(readFd)
  let cancelled = false
  return {
    async read() {
      if (cancelled) return null
      const { done, value } = await reader.read()
      return done ? null : value
    },
    cancel() {
      if (cancelled) return
      cancelled = true
      // A pending read answers "done". The stream's own failure to close has no consequence for us.
      reader.cancel().catch(() => undefined)
    },
  }
}
