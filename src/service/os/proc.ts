import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import type { ProcessIdentity, Survivor } from "../../execution/record.ts"
import { isErrno } from "../../lib/errno.ts"

/** What /proc/PID/stat says, as far as trees are concerned. */
export type ProcessStat = ProcessIdentity & {
  parent: number
  group: number
  session: number
  /** R, S, D, T (stopped), t (traced), Z (zombie), X (dead) … of its first thread */
  state: string
  threads: number
  userTicks: number
  systemTicks: number
}

/** Null when there is no such process (any more). */
export function readStat(pid: number): ProcessStat | null {
  const text = readProcFile(`/proc/${pid}/stat`)
  if (text === null) return null
  // The command's name may hold spaces and parentheses: fields begin after the last one.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ")
  const number = (index: number) => Number(fields[index] ?? 0)
  return {
    pid,
    state: fields[0] ?? "X",
    parent: number(1),
    group: number(2),
    session: number(3),
    userTicks: number(11),
    systemTicks: number(12),
    threads: number(17),
    startTicks: number(19),
  }
}

/** Of a child just started: Bun has not waited for it, so even one that has died can be read. */
export function identify(pid: number): ProcessIdentity {
  const stat = readStat(pid)
  if (stat === null) throw new Error(`/proc/${pid}/stat is not there for a child just started`)
  return { pid, startTicks: stat.startTicks }
}

export function isAlive(stat: ProcessStat | null): stat is ProcessStat {
  if (stat === null || stat.state === "X") return false
  // A process whose first thread has ended looks like a zombie while its other threads go on.
  return stat.state !== "Z" || stat.threads > 1
}

/** Whether the pid still means the process it meant when it was seen. */
export function isSameProcess(identity: ProcessIdentity): boolean {
  return readStat(identity.pid)?.startTicks === identity.startTicks
}

export function allPids(): number[] {
  const pids: number[] = []
  for (const name of readdirSync("/proc")) {
    const first = name.charCodeAt(0)
    if (first >= 48 && first <= 57) pids.push(Number(name))
  }
  return pids
}

/** The environment a process was started with; empty when it is not ours to read. */
export function readEnvironment(pid: number): string {
  return readProcFile(`/proc/${pid}/environ`) ?? ""
}

/** What a person would call the process: its command line, else its name in brackets. */
export function commandLine(pid: number): string {
  const words = (readProcFile(`/proc/${pid}/cmdline`) ?? "").split("\0").join(" ").trim()
  if (words !== "") return words.slice(0, 200)
  return `[${(readProcFile(`/proc/${pid}/comm`) ?? "gone").trim()}]`
}

/** The memory a process has in use; null when it is gone, or not ours to read. */
export function residentBytes(pid: number): number | null {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readProcFile(`/proc/${pid}/status`) ?? "")?.[1]
  return kibibytes === undefined ? null : Number(kibibytes) * 1024
}

/** As whom a process acts; null when it is gone. */
export function userOf(pid: number): number | null {
  const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(readProcFile(`/proc/${pid}/status`) ?? "")?.[1]
  return uid === undefined ? null : Number(uid)
}

/**
 * Whether a process holds an exclusive `flock` on a file of that inode number. The device is not
 * compared: some file systems tell another one here than `stat` does.
 */
export function holdsFlock(pid: number, inode: number): boolean {
  const held = new RegExp(`FLOCK +ADVISORY +WRITE +${pid} +[0-9a-f]+:[0-9a-f]+:${inode} `, "m")
  return held.test(readProcFile("/proc/locks") ?? "")
}

/** How a process that outlived its end is named. */
/** Null where that may not be seen. */
export function holdsSocket(pid: number, inode: number): boolean | null {
  try {
    const directory = `/proc/${pid}/fd`
    const link = `socket:[${inode}]`
    return readdirSync(directory).some((fd) => linkOf(`${directory}/${fd}`) === link)
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return false
    if (isErrno(error, "EACCES", "EPERM")) return null
    throw error
  }
}

/** Null for what was closed since. */
function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch (error) {
    if (isErrno(error, "ENOENT", "ESRCH")) return null
    throw error
  }
}

export function survivorOf({ pid }: ProcessIdentity): Survivor {
  return { pid, command: commandLine(pid) }
}

/** Every TCP socket of this network namespace; empty where there is no such file. */
export function readTcpTable(family: "tcp" | "tcp6"): string {
  return readProcFile(`/proc/net/${family}`) ?? ""
}

export function bootId(): string {
  return (readProcFile("/proc/sys/kernel/random/boot_id") ?? "unknown").trim()
}

function readProcFile(path: string): string | null {
  try {
    return readFileSync(path, "latin1")
  } catch (error) {
    // ESRCH: the process went between open and read. EACCES, EPERM: another user's.
    if (isErrno(error, "ENOENT", "ESRCH", "EACCES", "EPERM")) return null
    throw error
  }
}
