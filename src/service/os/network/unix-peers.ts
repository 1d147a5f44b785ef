import { dlopen, FFIType, ptr } from "bun:ffi"
import { ownDescriptors } from "../own-descriptors.ts"

const { i32, u64, ptr: pointer } = FFIType

const { symbols } = dlopen("libc.so.6", {
  getsockname: { args: [i32, pointer, pointer], returns: i32 },
  getsockopt: { args: [i32, i32, i32, pointer, pointer], returns: i32 },
  ioctl: { args: [i32, u64, pointer], returns: i32 },
})

const AF_UNIX = 1
const SOL_SOCKET = 1
const SO_PEERCRED = 17
const SO_ACCEPTCONN = 30
const TIOCOUTQ = 0x5411n

/** Tells which processes are connected to a unix socket of this process. */
export interface UnixPeers {
  /** The pids of all that are connected, as they were when they connected. */
  all(): number[]
  /**
   * The pid at the other end of one connection. Bun shows no descriptor of it; but right after
   * something was sent, it is the only one in which more waits to be read than before. Null where
   * the other side was faster: then it may be asked again.
   */
  of(send: () => void): number | null
}

export function unixPeers(socketPath: string): UnixPeers {
  return {
    all: () => connections(socketPath).map(peerPid),
    of(send) {
      const before = connections(socketPath).map((fd) => ({ fd, waiting: unreadBytes(fd) }))
      send()
      const grown = before.filter(({ fd, waiting }) => unreadBytes(fd) > waiting)
      const [only, second] = grown
      return only === undefined || second !== undefined ? null : peerPid(only.fd)
    },
  }
}

const name = new Uint8Array(128)
const length = new Uint32Array(1)
const number = new Int32Array(3)

function connections(socketPath: string): number[] {
  return ownDescriptors().filter((fd) => isConnection(fd, socketPath))
}

function isConnection(fd: number, socketPath: string): boolean {
  length[0] = name.length
  if (symbols.getsockname(fd, ptr(name), ptr(length)) !== 0 || name[0] !== AF_UNIX) return false
  const bytes = Buffer.from(name.subarray(2, length[0]))
  const end = bytes.indexOf(0)
  const bound = bytes.toString("utf8", 0, end < 0 ? bytes.length : end)
  return bound === socketPath && option(fd, SO_ACCEPTCONN) === 0
}

/** The first number of `struct ucred`. */
function peerPid(fd: number): number {
  return option(fd, SO_PEERCRED)
}

function option(fd: number, which: number): number {
  length[0] = number.byteLength
  const answer = symbols.getsockopt(fd, SOL_SOCKET, which, ptr(number), ptr(length))
  return answer === 0 ? (number[0] ?? 0) : 0
}

function unreadBytes(fd: number): number {
  number[0] = 0
  return symbols.ioctl(fd, TIOCOUTQ, ptr(number)) === 0 ? (number[0] ?? 0) : 0
}
