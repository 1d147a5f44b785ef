import { closeSync } from "node:fs"
import {
  addressBytes,
  canonicalAddress,
  isLoopbackAddress,
  isWildcard,
  type TcpEnds,
} from "../../../lib/tcp-ends.ts"
import { TokenBucket } from "../../../lib/token-bucket.ts"
import { askKernel, openSocketDiagnostics } from "../libc.ts"
import { readTcpTable } from "../proc.ts"
import { mayAwaitAnswer, peersInTcpTable, uidInTcpTable } from "./tcp-table.ts"

/** Tells which user is at the other end of a connection inside this machine. */
export interface PeerUsers extends Disposable {
  uidOf(ends: TcpEnds): number | null
  /** The socket at the other end: zero when it is on another machine, null when that is unknown. */
  inodeOf(ends: TcpEnds): number | null
}

/** So many looks at the table a second: it takes milliseconds, and anybody can make us look. */
const tableLooks = { perSecond: 20, burst: 40 }

/**
 * The kernel is asked for the one socket by its ends (sock_diag), which takes microseconds. Where
 * it does not answer such questions, or where the server listens on all addresses and does not know
 * which of them was called, /proc/net/tcp is read: milliseconds, however few connections there are,
 * because the kernel walks its whole table for it.
 */
export function peerUsers(): PeerUsers {
  const diagnostics = openSocketDiagnostics()
  const looks = new TokenBucket(tableLooks, performance.now())
  return {
    uidOf(ends) {
      const canAsk = diagnostics !== null && !isWildcard(ends.local.address)
      const found = canAsk ? socketByDiagnostics(diagnostics, ends) : undefined
      if (found !== undefined) return found?.isAlive === true ? found.uid : null
      return looks.take(performance.now()) === 0 ? uidByTable(ends) : null
    },
    inodeOf(ends) {
      const canAsk = diagnostics !== null && !isWildcard(ends.local.address)
      const found = canAsk ? socketByDiagnostics(diagnostics, ends) : undefined
      if (found !== undefined) return inodeIn(found === null ? [] : [found], ends)
      if (looks.take(performance.now()) > 0) return null
      return inodeIn(peersInTcpTable(tcpTables(), ends), ends)
    },
    [Symbol.dispose]() {
      if (diagnostics !== null) closeSync(diagnostics)
    },
  }
}

function inodeIn(found: ReadonlyArray<{ inode: number }>, { peer }: TcpEnds): number | null {
  const [first, second] = found
  if (first === undefined) return isLoopbackAddress(peer.address) ? null : 0
  // What its process has let go of belongs to nobody any more.
  return second === undefined && first.inode !== 0 ? first.inode : null
}

function uidByTable(ends: TcpEnds): number | null {
  return uidInTcpTable(tcpTables(), ends)
}

function tcpTables(): string {
  return `${readTcpTable("tcp")}\n${readTcpTable("tcp6")}`
}

const AF_INET = 2
const AF_INET6 = 10
const IPPROTO_TCP = 6
const SOCK_DIAG_BY_FAMILY = 20
const NLM_F_REQUEST = 1
const anyState = 0xffff_ffff
const noCookie = 0xffff_ffff

// struct nlmsghdr, then inet_diag_req_v2 with its inet_diag_sockid; and what comes back:
// nlmsghdr, then inet_diag_msg.
const questionBytes = 72
const sourcePortAt = 24
const sourceAt = 28
const destinationAt = 44
const cookieAt = 64
const answer = new Uint8Array(512)
const answerView = new DataView(answer.buffer)
const answerTypeAt = 4
const stateAt = 17
const uidAt = 80
const inodeAt = 84

/** Undefined when there is no answer; null when there is no such socket, or nobody has it. */
function socketByDiagnostics(
  diagnostics: number,
  ends: TcpEnds,
): { uid: number; inode: number; isAlive: boolean } | null | undefined {
  const source = addressBytes(canonicalAddress(ends.peer.address))
  const destination = addressBytes(canonicalAddress(ends.local.address))
  if (source.length !== destination.length) return null
  const question = new Uint8Array(questionBytes)
  const view = new DataView(question.buffer)
  view.setUint32(0, questionBytes, true)
  view.setUint16(4, SOCK_DIAG_BY_FAMILY, true)
  view.setUint16(6, NLM_F_REQUEST, true)
  view.setUint8(16, source.length === 4 ? AF_INET : AF_INET6)
  view.setUint8(17, IPPROTO_TCP)
  view.setUint32(20, anyState, true)
  view.setUint16(sourcePortAt, ends.peer.port)
  view.setUint16(sourcePortAt + 2, ends.local.port)
  question.set(source, sourceAt)
  question.set(destination, destinationAt)
  view.setUint32(cookieAt, noCookie, true)
  view.setUint32(cookieAt + 4, noCookie, true)

  const length = askKernel(diagnostics, question, answer)
  if (length === null) return undefined
  const isSocket = answerView.getUint16(answerTypeAt, true) === SOCK_DIAG_BY_FAMILY
  if (!isSocket || length < inodeAt + 4) return null
  const inode = answerView.getUint32(inodeAt, true)
  const isAlive = mayAwaitAnswer(answer[stateAt] ?? 0) && inode !== 0
  return { uid: answerView.getUint32(uidAt, true), inode, isAlive }
}
