import { addressBytes, canonicalAddress, isWildcard, type TcpEnds } from "../../../lib/tcp-ends.ts"
import { readTcpTable } from "../proc.ts"

const ESTABLISHED = 1
const FIN_WAIT1 = 4
const FIN_WAIT2 = 5

/** Whether a program may hold the socket and wait for an answer; it may have said all it has. */
export function mayAwaitAnswer(state: number): boolean {
  return state === ESTABLISHED || state === FIN_WAIT1 || state === FIN_WAIT2
}

/**
 * The user at the other end of a connection inside this machine, from the text of /proc/net/tcp and
 * tcp6; null when it cannot be told. The peer's own socket is a row of the same table, with the
 * ends swapped. Only one with an inode counts: a closed one shows uid 0, inode 0.
 *
 * Where the server listens on all addresses, ours of this connection is not known, and several rows
 * may fit: another user can connect from the same port to another address of this machine. Then
 * the answer counts only if all rows agree.
 */
export function uidInTcpTable(table: string, ends: TcpEnds): number | null {
  const alive = peersInTcpTable(table, ends).filter(({ isAlive }) => isAlive)
  const uids = new Set(alive.map(({ uid }) => uid))
  const [only = null] = uids
  return uids.size === 1 && only !== null && Number.isSafeInteger(only) ? only : null
}

type TableRow = { uid: number; inode: number; isAlive: boolean }

/** Every socket that may be the other end, whatever its state. */
export function peersInTcpTable(table: string, { peer, local }: TcpEnds): TableRow[] {
  const peerPort = hexPort(peer.port)
  const ourPort = hexPort(local.port)
  const peerAddress = textOf(peer.address)
  const ourAddress = isWildcard(local.address) ? null : textOf(local.address)
  const rows: TableRow[] = []
  for (const line of table.split("\n")) {
    if (!line.includes(peerPort)) continue
    const [, from = "", to = "", state = "", , , , uid = "", , inode = "0"] = line
      .trim()
      .split(/\s+/)
    if (!from.endsWith(peerPort) || !to.endsWith(ourPort)) continue
    if (bytesOf(from.slice(0, -peerPort.length)).join(".") !== peerAddress) continue
    const called = bytesOf(to.slice(0, -ourPort.length)).join(".")
    if (ourAddress !== null && called !== ourAddress) continue
    const isAlive = mayAwaitAnswer(Number.parseInt(state, 16)) && inode !== "0"
    rows.push({ uid: Number(uid), inode: Number(inode), isAlive })
  }
  return rows
}

function hexPort(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, "0")}`
}

function textOf(address: string): string {
  return addressBytes(canonicalAddress(address)).join(".")
}

/** Each group of four bytes is written as a number of this machine, which is little-endian. */
function bytesOf(hex: string): number[] {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).toReversed().map((byte) => Number.parseInt(byte, 16)),
  )
  const isMapped = bytes.length === 16 && bytes.slice(0, 12).join() === mappedPrefix
  return isMapped ? bytes.slice(12) : bytes
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255].join()

const listening = "0A"

/** Whether any program of this machine listens on a port, at whichever address. Binds nothing. */
export function listensOn(port: number): boolean {
  const wanted = hexPort(port)
  return (["tcp", "tcp6"] as const).some((family) =>
    readTcpTable(family)
      .split("\n")
      .some((line) => {
        const [, local = "", , state] = line.trim().split(/\s+/)
        return state === listening && local.endsWith(wanted)
      }),
  )
}
