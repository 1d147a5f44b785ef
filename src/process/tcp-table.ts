import { addressBytes, canonicalAddress, type TcpEnds } from "../execution/tcp-ends.ts"

const established = "01"

/**
 * The user at the other end of a connection inside this machine, from the text of /proc/net/tcp or
 * tcp6; null when it cannot be told. The peer's own socket is a row of the same table, with the
 * ends swapped. Only an established one with an inode counts: a closed one shows uid 0, inode 0.
 */
export function uidInTcpTable(table: string, { peer, local }: TcpEnds): number | null {
  const wantedPort = hexPort(peer.port)
  const ourPort = hexPort(local.port)
  const wanted = addressBytes(canonicalAddress(peer.address)).join(".")
  for (const line of table.split("\n")) {
    if (!line.includes(wantedPort)) continue
    const [, from = "", to = "", state, , , , uid = "", , inode = "0"] = line.trim().split(/\s+/)
    const isPeers = from.endsWith(wantedPort) && to.endsWith(ourPort)
    if (!isPeers || state !== established || inode === "0") continue
    if (bytesOf(from.slice(0, -wantedPort.length)).join(".") !== wanted) continue
    return /^\d+$/.test(uid) ? Number(uid) : null
  }
  return null
}

function hexPort(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, "0")}`
}

/** Each group of four bytes is written as a number of this machine, which is little-endian. */
function bytesOf(hex: string): number[] {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).toReversed().map((byte) => Number.parseInt(byte, 16)),
  )
  const isMapped = bytes.length === 16 && bytes.slice(0, 12).join() === mappedPrefix
  return isMapped ? bytes.slice(12) : bytes
}

/** An IPv4 address inside an IPv6 one. */
const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255].join()
