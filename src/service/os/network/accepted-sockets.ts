import { dlopen, FFIType, ptr } from "bun:ffi"
import { readFileSync } from "node:fs"
import { isErrno } from "../../../lib/errno.ts"
import type { TcpEnds } from "../../../lib/tcp-ends.ts"
import { duplicate, getRlimit, RLIMIT_NOFILE } from "../libc.ts"
import { descriptorsOf, ownDescriptors } from "../own-descriptors.ts"

const { i32, u32, u64, ptr: pointer } = FFIType

const { symbols } = dlopen("libc.so.6", {
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  getpeername: { args: [i32, pointer, pointer], returns: i32 },
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  setsockopt: { args: [i32, i32, i32, pointer, u32], returns: i32 },
  shutdown: { args: [i32, i32], returns: i32 },
  ioctl: { args: [i32, u64, pointer], returns: i32 },
})

const AF_INET = 2
const AF_INET6 = 10
const SOL_SOCKET = 1
const SO_RCVLOWAT = 18
const SO_COOKIE = 57
const IPPROTO_TCP = 6
const TCP_INFO = 11
const SHUT_RDWR = 2
const FIONREAD = 0x541bn
const TIOCOUTQ = 0x5411n

/**
 * What the kernel tells about the TCP connections that this process has accepted, and does to them.
 * Bun's server shows none before its first request, and its descriptors never.
 */
export const acceptedSockets = {
  openDescriptors,
  acceptedSocket,
  socketCookie,
  receivedBytes,
  unreadBytes,
  unacknowledgedBytes,
  hasUnsentBytes,
  wakeAtBytes,
  shutDown,
  duplicate,
}

/** A TCP connection that this process has accepted. */
type AcceptedSocket = TcpEnds & {
  fd: number
  /** No other socket ever has the same; a descriptor's number is soon used again. */
  cookie: bigint
}

/** Null when a descriptor is not open, or not a connection that came in at one of these ports. */
function acceptedSocket(fd: number, ports: ReadonlySet<number>): AcceptedSocket | null {
  if (!ask(symbols.getsockname, fd) || !ports.has(addressView.getUint16(2))) return null
  const local = readEnd()
  if (!ask(symbols.getpeername, fd)) return null // it only listens
  return { fd, cookie: socketCookie(fd), local, peer: readEnd() }
}

/** All descriptors of this process. */
function openDescriptors(): number[] {
  try {
    return ownDescriptors()
  } catch (error) {
    if (!isErrno(error, "EMFILE", "ENFILE")) throw error
    // Every number is taken: not even the directory that lists them can be opened.
    return Array.from({ length: mostDescriptors() }, (_, fd) => fd)
  }
}

/** How many descriptors this process may have. */
export function mostDescriptors(): number {
  return Number(getRlimit(process.pid, RLIMIT_NOFILE)?.soft ?? 0n)
}

// Small arrays are moved now and then: each call asks anew where they are.
const address = new Uint8Array(128)
const addressView = new DataView(address.buffer)
const length = new Uint32Array(1)

function ask(call: typeof symbols.getsockname, fd: number): boolean {
  length[0] = address.length
  if (call(fd, ptr(address), ptr(length)) !== 0) return false
  const family = address[0]
  return family === AF_INET || family === AF_INET6
}

function readEnd(): TcpEnds["peer"] {
  const isIpv4 = address[0] === AF_INET
  const text = isIpv4 ? address.subarray(4, 8).join(".") : textOfIpv6()
  return { address: text, port: addressView.getUint16(2) }
}

function textOfIpv6(): string {
  const isMapped =
    address.subarray(8, 18).every((byte) => byte === 0) && addressView.getUint16(18) === 0xffff
  if (isMapped) return address.subarray(20, 24).join(".")
  const groups = Array.from({ length: 8 }, (_, group) => addressView.getUint16(8 + group * 2))
  return groups.map((group) => group.toString(16)).join(":")
}

const cookie = new BigUint64Array(1)

/** Zero for what is no open socket. */
function socketCookie(fd: number): bigint {
  length[0] = cookie.byteLength
  const answer = symbols.getsockopt(fd, SOL_SOCKET, SO_COOKIE, ptr(cookie), ptr(length))
  return answer === 0 ? (cookie[0] ?? 0n) : 0n
}

const info = new DataView(new ArrayBuffer(256))
const bytesReceivedAt = 128 // in struct tcp_info

/** Everything that has come in since the connection began; zero where the kernel does not say. */
function receivedBytes(fd: number): number {
  length[0] = info.byteLength
  const answer = symbols.getsockopt(fd, IPPROTO_TCP, TCP_INFO, ptr(info), ptr(length))
  const isTold = answer === 0 && (length[0] ?? 0) >= bytesReceivedAt + 8
  return isTold ? Number(info.getBigUint64(bytesReceivedAt, true)) : 0
}

const count = new Int32Array(1)

/** Bytes that have come in, and that this process has not read. */
function unreadBytes(fd: number): number {
  return symbols.ioctl(fd, FIONREAD, ptr(count)) === 0 ? (count[0] ?? 0) : 0
}

/** Bytes that were sent, and that the other side has not acknowledged. */
function unacknowledgedBytes(fd: number): number {
  return symbols.ioctl(fd, TIOCOUTQ, ptr(count)) === 0 ? (count[0] ?? 0) : 0
}

const EPOLLOUT = 4

/**
 * Whether Bun has bytes for a socket that the kernel had no room for: it waits then to be told of
 * room. It says so to nobody, but the kernel shows what it waits for. Takes a millisecond where
 * there are a thousand sockets.
 */
function hasUnsentBytes(fd: number): boolean {
  const row = new RegExp(`^tfd:\\s*${fd} events:\\s*([0-9a-f]+) `, "m")
  try {
    return descriptorsOf("anon_inode:[eventpoll]").some((epoll) => {
      const events = row.exec(readFileSync(`/proc/self/fdinfo/${epoll}`, "latin1"))?.[1]
      return events !== undefined && (Number.parseInt(events, 16) & EPOLLOUT) !== 0
    })
  } catch (error) {
    if (!isErrno(error, "EMFILE", "ENFILE")) throw error
    return true // as far as is known
  }
}

const lowWater = new Int32Array(1)

/**
 * From now on whoever waits for input of a socket is woken by so many bytes, or by its end: fewer
 * stay in the kernel. With 1, by any, and also by what came meanwhile.
 */
function wakeAtBytes(fd: number, bytes: number): void {
  lowWater[0] = bytes
  symbols.setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, ptr(lowWater), lowWater.byteLength)
}

/** Ends a connection; whoever has its descriptor sees that, and closes it. */
function shutDown(fd: number): void {
  symbols.shutdown(fd, SHUT_RDWR)
}
