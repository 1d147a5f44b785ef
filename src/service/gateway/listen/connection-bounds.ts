import type { ConnectionLimits } from "./connection-limiter.ts"
import type { Bounds } from "./excess.ts"

export type ConnectionBounds = {
  /** Connections that have not sent a whole request. */
  waiting: Bounds
  /** Bytes of messages over WebSockets that have not arrived whole. */
  unfinishedBytes: Bounds
  /** Connections to the TLS port, whatever they do. */
  tls: ConnectionLimits
}

const mostWaiting = 1024
const mostOverTls = 4096
const mebibyte = 1024 * 1024

/**
 * However many come, at least a quarter of the descriptors stays for those that are served. One who
 * comes over TLS takes three: its own, and both ends of the connection to the plain server.
 */
export function connectionBounds(descriptors: number, maxMessageBytes: number): ConnectionBounds {
  const share = Math.max(16, Math.floor(descriptors / 4))
  const waiting = Math.min(mostWaiting, share)
  const overTls = Math.min(mostOverTls, share)
  return {
    waiting: { most: waiting, mostOfOne: Math.floor(waiting / 4) },
    unfinishedBytes: {
      most: Math.max(96 * mebibyte, 4 * maxMessageBytes),
      mostOfOne: Math.max(24 * mebibyte, maxMessageBytes),
    },
    tls: { mostConnections: overTls, mostConnectionsPerAddress: Math.floor(overTls / 4) },
  }
}
