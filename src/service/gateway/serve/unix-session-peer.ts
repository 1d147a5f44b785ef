import type { PeerProcess } from "../../../protocol/ipc.ts"
import type { Caller } from "../../access/caller.ts"
import type { UnixPeers } from "../../os/network/unix-peers.ts"

/** A client that is quicker than this process is asked again, until it is busy for a moment. */
const quickTries = 20
const mostTries = 200
const pauseMs = 5

/** Finds out once which process is at the other end of a WebSocket over the unix socket. */
export function withUnixPeer(
  caller: Caller,
  socket: { ping(): unknown; readonly readyState: number },
  peers: UnixPeers,
): Caller {
  let found: number | null = null
  return { ...caller, peer: find }

  async function find(): Promise<PeerProcess> {
    for (let tries = 0; found === null && tries < mostTries; tries += 1) {
      // What is sent while a message is being handled goes out only afterwards.
      if (tries < quickTries) await new Promise(setImmediate)
      else await Bun.sleep(pauseMs)
      if (socket.readyState !== WebSocket.OPEN) break
      found = peers.of(() => socket.ping())
    }
    return found === null ? { kind: "unknown" } : { kind: "one-of", pids: [found] }
  }
}
