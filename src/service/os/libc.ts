import { dlopen, FFIType, ptr, read } from "bun:ffi"
import { closeSync } from "node:fs"
import { getSystemErrorMap } from "node:util"
import type { TerminalSize } from "../../execution/spec.ts"
import { isShortage } from "../../lib/exhaustion.ts"

const { i32, u32, i64, u64, ptr: pointer } = FFIType

const { symbols } = dlopen("libc.so.6", {
  pipe2: { args: [pointer, i32], returns: i32 },
  fcntl: { args: [i32, i32, i64], returns: i32 },
  flock: { args: [i32, i32], returns: i32 },
  prctl: { args: [i32, u64, u64, u64, u64], returns: i32 },
  wait4: { args: [i32, pointer, i32, pointer], returns: i32 },
  dup3: { args: [i32, i32, i32], returns: i32 },
  ioctl: { args: [i32, u64, pointer], returns: i32 },
  syscall: { args: [i64, i64, i64, i64, i64, i64], returns: i64 },
  socket: { args: [i32, i32, i32], returns: i32 },
  socketpair: { args: [i32, i32, i32, pointer], returns: i32 },
  send: { args: [i32, pointer, u64, i32], returns: i64 },
  connect: { args: [i32, pointer, u32], returns: i32 },
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  recv: { args: [i32, pointer, u64, i32], returns: i64 },
  prlimit: { args: [i32, i32, pointer, pointer], returns: i32 },
  epoll_ctl: { args: [i32, i32, i32, pointer], returns: i32 },
  __errno_location: { args: [], returns: pointer },
})

const O_CLOEXEC = 0o2000000
const O_NONBLOCK = 0o4000
const F_SETFL = 4
const F_DUPFD_CLOEXEC = 1030
const F_SETPIPE_SZ = 1031
const F_GETPIPE_SZ = 1032
const TIOCSWINSZ = 0x5414n
const LOCK_EX = 2
const LOCK_NB = 4
const AT_FDCWD = -100
const RENAME_EXCHANGE = 2
const WNOHANG = 1
const PR_SET_CHILD_SUBREAPER = 36
const PR_SET_PTRACER = 0x59616d61
// The same numbers on every architecture: both calls are newer than the unified table.
const SYS_pidfd_send_signal = 424
const SYS_pidfd_open = 434
const SYS_renameat2 = { x64: 316, arm64: 276 }
const AF_UNIX = 1
const AF_NETLINK = 16
const SOCK_STREAM = 1
const SOCK_NONBLOCK = 0o4000
const SOL_SOCKET = 1
const SO_PEERCRED = 17
const SOCK_RAW = 3
const SOCK_CLOEXEC = 0o2000000
const NETLINK_SOCK_DIAG = 4
const MSG_DONTWAIT = 0x40
const EPOLL_CTL_MOD = 3
const SO_ACCEPTCONN = 30

// The same numbers on x86-64 and arm64.
const RLIMIT_CORE = 4
export const RLIMIT_DATA = 2
export const RLIMIT_NPROC = 6
export const RLIMIT_NOFILE = 7

export type Pipe = { readFd: number; writeFd: number }

/** A real pipe, not a socketpair: a child may open /dev/stdout or /dev/stdin again. */
export function makePipe(): Pipe {
  const fds = new Int32Array(2)
  if (symbols.pipe2(ptr(fds), O_CLOEXEC) !== 0) throw systemError("pipe2")
  return { readFd: fds[0] ?? -1, writeFd: fds[1] ?? -1 }
}

/** Two ends of a stream that no process can open again by its name in /proc. */
export function makeSocketPair(): Pipe {
  const fds = new Int32Array(2)
  const type = SOCK_STREAM | SOCK_CLOEXEC
  if (symbols.socketpair(AF_UNIX, type, 0, ptr(fds)) !== 0) throw systemError("socketpair")
  return { readFd: fds[0] ?? -1, writeFd: fds[1] ?? -1 }
}

/** A hint: past the user's quota the kernel refuses, and the pipe keeps its size. */
export function growPipe(fd: number, bytes: number): void {
  symbols.fcntl(fd, F_SETPIPE_SZ, BigInt(bytes))
}

export function pipeBytes(fd: number): number {
  return symbols.fcntl(fd, F_GETPIPE_SZ, 0n)
}

/** Of our end only: the child's is another open file. */
export function setNonblocking(fd: number): void {
  if (symbols.fcntl(fd, F_SETFL, BigInt(O_NONBLOCK)) !== 0) throw systemError("fcntl")
}

/** Another descriptor of the same open file, which stays when the first is closed. */
export function duplicate(fd: number): number {
  const copy = symbols.fcntl(fd, F_DUPFD_CLOEXEC, 3n)
  if (copy < 0) throw systemError("fcntl")
  return copy
}

/** From now on a descriptor means what another does, for whoever holds its number. */
export function replaceDescriptor(replaced: number, by: number): void {
  if (symbols.dup3(by, replaced, O_CLOEXEC) < 0) throw systemError("dup3")
}

/** Tells the programs on a terminal, by its master side, how large it is now. */
export function setTerminalSize(masterFd: number, { cols, rows }: TerminalSize): void {
  const size = new Uint16Array([rows, cols, 0, 0])
  if (symbols.ioctl(masterFd, TIOCSWINSZ, ptr(size)) !== 0) throw systemError("ioctl")
}

/** Takes an exclusive lock on an open file; false when somebody else has it. */
export function tryLock(fd: number): boolean {
  if (symbols.flock(fd, LOCK_EX | LOCK_NB) === 0) return true
  const error = systemError("flock")
  if (error.code === "EAGAIN" || error.code === "EWOULDBLOCK") return false
  throw error
}

/** Two files get each other's name at one moment; false where the file system cannot do that. */
export function exchangeFiles(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(`${one}\0`), Buffer.from(`${other}\0`)]
  const [from, to] = [BigInt(ptr(first)), BigInt(ptr(second))]
  const number = SYS_renameat2[process.arch === "arm64" ? "arm64" : "x64"]
  // By its number, as old C libraries have no function of that name.
  if (symbols.syscall(number, AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) === 0n) return true
  const error = systemError("renameat2")
  if (error.code === "EINVAL" || error.code === "ENOSYS") return false
  throw error
}

/** From now on orphaned descendants become this process's children. */
export function becomeSubreaper(): void {
  if (symbols.prctl(PR_SET_CHILD_SUBREAPER, 1n, 0n, 0n, 0n) !== 0) throw systemError("prctl")
}

/**
 * Lets a child watch this process, where processes otherwise may watch only what they have started
 * (Yama); elsewhere this means nothing.
 */
export function allowTracingBy(pid: number): void {
  symbols.prctl(PR_SET_PTRACER, BigInt(pid), 0n, 0n, 0n)
}

/** How a child ended, as the kernel tells it, and the processor time that its tree took. */
export type Waited = { status: number; cpuUserMs: number; cpuSystemMs: number }

/**
 * Takes a zombie child away; null while it lives, or when it is no child of ours. Never for a child
 * of Bun's own, which waits for it itself.
 */
export function reap(pid: number): Waited | null {
  const status = new Int32Array(1)
  const usage = new BigInt64Array(18) // struct rusage: two times of two words each, then counts
  if (symbols.wait4(pid, ptr(status), WNOHANG, ptr(usage)) !== pid) return null
  const ms = (at: number) => Number(usage[at] ?? 0n) * 1000 + Number(usage[at + 1] ?? 0n) / 1000
  return { status: status[0] ?? 0, cpuUserMs: ms(0), cpuSystemMs: ms(2) }
}

/** A handle that goes on meaning the same process; null when there is none (any more). */
export function openPidfd(pid: number): number | null {
  const fd = Number(symbols.syscall(SYS_pidfd_open, pid, 0, 0, 0, 0))
  if (fd >= 0) return fd
  const error = systemError("pidfd_open")
  // A process that could not be looked at is not gone: whoever signals it must know.
  if (isShortage(error)) throw error
  return null
}

export function signalPidfd(pidfd: number, signal: number): boolean {
  return Number(symbols.syscall(SYS_pidfd_send_signal, pidfd, signal, 0, 0, 0)) === 0
}

/**
 * Which user listens at a unix socket: the kernel noted it when that process began to listen. Sends
 * nothing. Throws when nobody listens there, and EAGAIN when too many wait to be let in.
 */
export function listenerUid(path: string): number {
  const fd = symbols.socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)
  if (fd < 0) throw systemError("socket")
  try {
    const name = Buffer.from(`\0\0${path}\0`)
    name.writeUInt16LE(AF_UNIX)
    if (symbols.connect(fd, ptr(name), name.length) !== 0) throw systemError("connect")
    const credentials = new Int32Array(3) // struct ucred: pid, uid, gid
    const length = new Uint32Array([credentials.byteLength])
    const asked = symbols.getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ptr(credentials), ptr(length))
    if (asked !== 0) throw systemError("getsockopt")
    return new Uint32Array(credentials.buffer)[1] ?? 0
  } finally {
    closeSync(fd)
  }
}

/** A socket to ask the kernel about other sockets; null where that is not offered. */
export function openSocketDiagnostics(): number | null {
  const fd = symbols.socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
  return fd >= 0 ? fd : null
}

/** The kernel answers such a question while it is asked; null when it does not. */
export function askKernel(fd: number, question: Uint8Array, answer: Uint8Array): number | null {
  if (Number(symbols.send(fd, ptr(question), BigInt(question.length), 0)) < 0) return null
  const length = Number(symbols.recv(fd, ptr(answer), BigInt(answer.length), MSG_DONTWAIT))
  return length >= 0 ? length : null
}

/** Whether a descriptor is a socket that waits for connections. */
export function isListening(fd: number): boolean {
  const value = new Int32Array(1)
  const length = new Int32Array([value.byteLength])
  const isAnswered =
    symbols.getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, ptr(value), ptr(length)) === 0
  return isAnswered && value[0] === 1
}

/** What an event loop is told of one of its descriptors; `data` is how it knows that one again. */
export type Watched = { epollFd: number; fd: number; events: number; data: bigint }

export function changeWatched({ epollFd, fd, events, data }: Watched): void {
  const isPacked = process.arch === "x64"
  const event = new DataView(new ArrayBuffer(isPacked ? 12 : 16))
  event.setUint32(0, events, true)
  event.setBigUint64(isPacked ? 4 : 8, data, true)
  if (symbols.epoll_ctl(epollFd, EPOLL_CTL_MOD, fd, ptr(event.buffer)) !== 0) {
    throw systemError("epoll_ctl")
  }
}

/** A limit beyond all others is 2⁶⁴−1. */
export type Rlimit = { soft: bigint; hard: bigint }

/** Null when there is no such process, or it is none of ours to ask about. */
export function getRlimit(pid: number, resource: number): Rlimit | null {
  const now = new BigUint64Array(2)
  if (symbols.prlimit(pid, resource, null, ptr(now)) !== 0) return null
  return { soft: now[0] ?? 0n, hard: now[1] ?? 0n }
}

/** As numbers for people; null where there is no limit, or none that can be read. */
export function processLimit(
  pid: number,
  resource: number,
): { limit: number | null; maximum: number | null } {
  const { soft, hard } = getRlimit(pid, resource) ?? { soft: infinity, hard: infinity }
  const numberOf = (value: bigint) => (value === infinity ? null : Number(value))
  return { limit: numberOf(soft), maximum: numberOf(hard) }
}

/** RLIM_INFINITY */
const infinity = 2n ** 64n - 1n

/** False when there is no such process, or it may not be limited by us. */
export function setRlimit(pid: number, resource: number, { soft, hard }: Rlimit): boolean {
  const wanted = new BigUint64Array([soft, hard])
  return symbols.prlimit(pid, resource, ptr(wanted), null) === 0
}

/**
 * From now on neither this process nor its children leave a core file: it would have tokens and
 * environments in it. A child that wants one may raise its limit again.
 */
export function leaveNoCoreFiles(): void {
  const now = getRlimit(process.pid, RLIMIT_CORE)
  if (now !== null) setRlimit(process.pid, RLIMIT_CORE, { soft: 0n, hard: now.hard })
}

type SystemError = Error & { code: string }

export function systemError(call: string): SystemError {
  const location = symbols.__errno_location()
  const errno = location === null ? 0 : read.i32(location)
  const [code, message] = getSystemErrorMap().get(-errno) ?? [`E${errno}`, "unknown error"]
  return Object.assign(new Error(`${call}: ${code}: ${message}`), { code })
}
