import { closeSync } from "node:fs"
import { constants } from "node:os"
import type { ProcessIdentity } from "../../execution/record.ts"
import { openPidfd, signalPidfd } from "./libc.ts"
import { isSameProcess } from "./proc.ts"

const numbers: ReadonlyMap<string, number> = new Map(Object.entries(constants.signals))
const highestSignal = 64

/** The number of a signal given as a number, `SIGTERM`, `TERM` or `term`; null if there is none. */
export function signalNumber(signal: string | number): number | null {
  if (typeof signal === "number") return signal >= 1 && signal <= highestSignal ? signal : null
  if (/^\d+$/.test(signal)) return signalNumber(Number(signal))
  const name = signal.toUpperCase()
  return numbers.get(name.startsWith("SIG") ? name : `SIG${name}`) ?? null
}

export function signalName(number: number): string {
  for (const [name, value] of numbers) if (value === number) return name
  return `SIG${number}`
}

export const SIGTERM = constants.signals.SIGTERM
export const SIGKILL = constants.signals.SIGKILL
export const SIGSTOP = constants.signals.SIGSTOP
export const SIGCONT = constants.signals.SIGCONT

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
