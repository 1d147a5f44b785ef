import { closeSync } from "node:fs"
import type { ProcessIdentity } from "../../execution/record.ts"
import { openPidfd, signalPidfd } from "./libc.ts"
import { isSameProcess } from "./proc.ts"

/**
 * Signals exactly the process that was seen, or nobody. The handle is opened first and the identity
 * checked second: a pid that was given out again in between is noticed.
 */
export function signalProcess(identity: ProcessIdentity, signal: number): boolean {
  const pidfd = openPidfd(identity.pid)
  if (pidfd === null) return false
  try {
    return isSameProcess(identity) && signalPidfd(pidfd, signal)
  } finally {
    closeSync(pidfd)
  }
}
