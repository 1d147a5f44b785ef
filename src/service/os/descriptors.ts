import { readdirSync, statSync } from "node:fs"
import { isErrno } from "../../lib/errno.ts"
import type { Descriptors } from "../keeper/ports.ts"
import { getRlimit, RLIMIT_NOFILE, setRlimit } from "./libc.ts"

/** How many descriptors this process may have, as far as it may raise that itself, and has. */
export function ownDescriptorCount(): Descriptors {
  const now = getRlimit(process.pid, RLIMIT_NOFILE)
  // Bun does the same when it starts, but only up to a million.
  if (now !== null && now.soft < now.hard) {
    setRlimit(process.pid, RLIMIT_NOFILE, { soft: now.hard, hard: now.hard })
  }
  // Asked each time: somebody may raise it while the service runs.
  const limit = () => Number(getRlimit(process.pid, RLIMIT_NOFILE)?.soft ?? 0n)
  return {
    get limit() {
      return limit()
    },
    open: () => countOpen(limit()),
  }
}

export function countOpen(limit: number): number {
  try {
    const { size } = statSync("/proc/self/fd")
    // Before Linux 6.2 the directory has no size, and its entries have to be counted.
    return size > 0 ? size : readdirSync("/proc/self/fd").length - 1
  } catch (error) {
    if (!isErrno(error, "EMFILE")) throw error
    return limit
  }
}
