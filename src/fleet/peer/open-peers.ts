import { ok, type Result } from "../../lib/result.ts"
import type { PolicyKind } from "../../protocol/notifications.ts"
import type { KeeperLink } from "../../service/gateway/operations/keeper-link.ts"
import type { OpenRemote } from "../ports.ts"
import { listenForNodes } from "./listen-for-nodes.ts"
import type { NodeListenerOptions } from "./node-listener-options.ts"
import { notePassedOn } from "./passed-on.ts"
import { remoteOperations } from "./remote-operations.ts"

export type PeerOptions = NodeListenerOptions & {
  link: () => KeeperLink
  policy: PolicyKind
  reportBuffers: (bytes: number) => void
}

/** This node for the others, and the others for this one. */
export type Peers = Disposable & {
  /** Where it listens for other nodes. */
  port: number | null
  remote: OpenRemote
}

/** Or why it cannot listen for other nodes. */
export function openPeers(options: PeerOptions): Result<Peers, string> {
  const { identity, policy, reportBuffers, link } = options
  const listening = listenForNodes(options)
  if (!listening.ok) return listening
  const remote = { identity, policy, reportBuffers, passedOn: notePassedOn(link) }
  return ok({
    port: listening.value.port,
    remote: (node) => remoteOperations(node, remote),
    [Symbol.dispose]: () => listening.value[Symbol.dispose](),
  })
}
