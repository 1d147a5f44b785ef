import { dlopen, FFIType, ptr } from "bun:ffi"
import { closeSync } from "node:fs"

/** The service's state, as systemd's sd_notify(3) spells it. */
export type ServiceState = "READY=1" | "STOPPING=1"

const AF_UNIX = 1
const SOCK_DGRAM_CLOEXEC = 2 | 0o2000000
const MSG_NOSIGNAL = 0x4000
const longestPath = 107

/**
 * Tells the service manager whose socket NOTIFY_SOCKET names; answers whether it could be told.
 * Where it could not, the service goes on.
 */
export function notifySystemd(socketPath: string, state: ServiceState): boolean {
  const address = addressOf(socketPath)
  if (address === null) return false
  using libc = openLibc()
  const { socket, sendto } = libc.symbols
  const fd = socket(AF_UNIX, SOCK_DGRAM_CLOEXEC, 0)
  if (fd < 0) return false
  try {
    const message = Buffer.from(state)
    const length = BigInt(message.length)
    const sent = sendto(fd, ptr(message), length, MSG_NOSIGNAL, ptr(address), address.length)
    return Number(sent) === message.length
  } finally {
    closeSync(fd)
  }
}

/** Whether a service manager has started this process, and not only somebody above it. */
export function isUnderManager(env: Readonly<Record<string, string | undefined>>): boolean {
  const isTold = (env["NOTIFY_SOCKET"] ?? "") !== ""
  return isTold || env["SYSTEMD_EXEC_PID"] === String(process.pid)
}

/** A sockaddr_un: the family in two bytes, then the path; with `@` it is an abstract name. */
function addressOf(socketPath: string): Uint8Array | null {
  if (!/^[/@]./.test(socketPath)) return null
  const path = Buffer.from(socketPath)
  if (path.length > longestPath) return null
  if (path[0] === 0x40) path[0] = 0
  const end = path[0] === 0 ? [] : [Buffer.of(0)]
  return Buffer.concat([Buffer.from(Uint16Array.of(AF_UNIX).buffer), path, ...end])
}

function openLibc() {
  const library = dlopen("libc.so.6", {
    socket: { args: [FFIType.i32, FFIType.i32, FFIType.i32], returns: FFIType.i32 },
    sendto: {
      args: [FFIType.i32, FFIType.ptr, FFIType.u64, FFIType.i32, FFIType.ptr, FFIType.u32],
      returns: FFIType.i64,
    },
  })
  return { symbols: library.symbols, [Symbol.dispose]: () => library.close() }
}
