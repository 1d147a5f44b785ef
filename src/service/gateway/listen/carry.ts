import type { Socket } from "node:net"

/** For a peer that neither reads its last bytes nor closes. */
const lastBytesMs = 10_000

/**
 * Carries bytes both ways, at the pace of whoever takes them more slowly: a side that is full is
 * not read for. The end of one is the end of the other, after its last bytes; a failure is at once.
 */
export function carry(one: Socket, other: Socket): void {
  one.pipe(other)
  other.pipe(one)
  endTogether(one, other)
  endTogether(other, one)
}

function endTogether(first: Socket, second: Socket): void {
  first.on("error", () => second.destroy())
  first.once("close", () => endSoon(second))
  if (first.destroyed) endSoon(second)
}

function endSoon(socket: Socket): void {
  if (socket.destroyed) return
  socket.end()
  const timer = setTimeout(() => socket.destroy(), lastBytesMs)
  socket.once("close", () => clearTimeout(timer))
}
