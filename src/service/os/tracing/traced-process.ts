import { readdirSync, readFileSync } from "node:fs"
import { constants } from "node:os"
import { isErrno } from "../../../lib/errno.ts"
import { allPids, isAlive, readStat } from "../proc.ts"

/** What is seen of a process from outside, and done to it. */

/** Whether nobody has made anything of this signal, and it ends a process by itself. */
export function isDeadly(tid: number, signal: number): boolean {
  const { SIGCHLD, SIGCONT, SIGURG, SIGWINCH } = constants.signals
  if (isStopSignal(signal) || [SIGCHLD, SIGCONT, SIGURG, SIGWINCH].includes(signal)) return false
  const status = statusOf(tid)
  const isIn = (name: string) => {
    const set = new RegExp(`^${name}:\\s*([0-9a-f]+)$`, "m").exec(status)?.[1] ?? "0"
    return ((BigInt(`0x${set}`) >> BigInt(signal - 1)) & 1n) === 1n
  }
  return !isIn("SigCgt") && !isIn("SigIgn")
}

export function isStopSignal(signal: number): boolean {
  const { SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU } = constants.signals
  return [SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU].includes(signal)
}

export function umaskOf(pid: number): number {
  return Number.parseInt(/^Umask:\s*(\d+)$/m.exec(statusOf(pid))?.[1] ?? "777", 8)
}

function statusOf(pid: number): string {
  return unlessGone(() => readFileSync(`/proc/${pid}/status`, "latin1")) ?? ""
}

/** Whoever is killed is gone at any moment, however much it is being watched. */
function unlessGone<Value>(look: () => Value): Value | null {
  try {
    return look()
  } catch (error) {
    if (!isErrno(error, "ENOENT", "ESRCH")) throw error
    return null
  }
}

export function threadsOf(pid: number): number[] {
  return unlessGone(() => readdirSync(`/proc/${pid}/task`).map(Number)) ?? []
}

export function descriptorsOf(pid: number): number[] {
  return unlessGone(() => readdirSync(`/proc/${pid}/fd`).map(Number)) ?? []
}

/** One that does not even end by SIGKILL, of a broken disk say, must not hold up everything. */
const endMs = 1000

/** Whatever a watched process starts is traced from its first moment: none of it is missed. */
export function endTraced(except: number): void {
  const isTraced = (pid: number) =>
    pid !== except && isAlive(readStat(pid)) && tracerOf(pid) === process.pid
  const deadlineMs = performance.now() + endMs
  while (performance.now() < deadlineMs) {
    const found = allPids().filter(isTraced)
    if (found.length === 0) return
    for (const pid of found) send(pid, "SIGKILL")
  }
}

function tracerOf(pid: number): number {
  return Number(/^TracerPid:\s*(\d+)$/m.exec(statusOf(pid))?.[1] ?? 0)
}

export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!isErrno(error, "ESRCH")) throw error // gone already
  }
}
