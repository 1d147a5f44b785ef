import { createPublicKey, randomBytes, type X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import { executionIdFrom } from "../../../execution/id.ts"
import { NatsEngine } from "../../../fleet/engine/nats-engine.ts"
import type { ConnectedEngine } from "../../../fleet/engine-connection.ts"
import {
  IndexEntry,
  KeyEntry,
  NodeEntry,
  NodeOrder,
  PlacementEntry,
} from "../../../fleet/entries.ts"
import { Fleet } from "../../../fleet/fleet.ts"
import { openPeers } from "../../../fleet/peer/open-peers.ts"
import type { OpenRemote } from "../../../fleet/ports.ts"
import { certificatesIn, NodeSigner } from "../../../fleet/signed-statements.ts"
import { messageOf } from "../../../lib/errno.ts"
import { readOwned } from "../../../lib/owned-file.ts"
import { fail, ok, type Result } from "../../../lib/result.ts"
import type { FleetSettings } from "../../../protocol/fleet-settings.ts"
import { openMirror } from "../../storage/journal/mirror.ts"
import { statePathsIn } from "../../storage/state-paths.ts"
import type { FleetPorts, JoinedFleet } from "./fleet-seam.ts"

const dayMs = 86_400_000
/** Far more than such a key takes. */
const mostKeyBytes = 64 * 1024

/** Keys are remembered as long as one node remembers them. */
const keysKeptMs = dayMs

/** Puts a node together. What it needs of its own it must have; the engine may come later. */
export async function joinFleet(
  settings: FleetSettings,
  ports: FleetPorts,
): Promise<Result<JoinedFleet, string>> {
  const paths = statePathsIn(ports.settings.stateDir)
  const identity = readIdentity(settings, paths.receiptKey)
  if (!identity.ok) return identity
  using opened = new DisposableStack()
  const mirror = openMirror(paths.fleetIndex)
  if (!mirror.ok) return fail(`The index of the fleet cannot be opened: ${mirror.failure.message}.`)
  opened.use(mirror.value)
  let remote: OpenRemote = () => {
    throw new Error("another node was asked before this one listened")
  }
  const fleet = new Fleet({
    ...identity.value,
    settings,
    version: ports.settings.version,
    connect: () => connect(settings),
    local: ports.local,
    journal: ports.journal,
    mirror: mirror.value,
    openRemote: (node) => remote(node),
    newId: () => executionIdFrom(randomBytes(16)),
    log: ports.log,
    monotonicMs: () => performance.now(),
    now: () => new Date(),
  })
  const peers = openPeers({
    ...ports,
    identity: { ...settings, name: settings.node },
    advertise: settings.advertise,
    members: fleet.members,
    operations: fleet.forNodes,
    policy: ports.settings.policy,
  })
  if (!peers.ok) return peers
  opened.use(peers.value)
  remote = peers.value.remote
  fleet.ownEntry.listeningPort = peers.value.port
  void Promise.resolve(ports.untilAdmitted()).then(() => fleet.begin())
  const kept = opened.move()
  return ok({
    operations: fleet.operations,
    troubles: () => fleet.troubles(),
    [Symbol.dispose]() {
      // What it still says to the engine needs the index to be open.
      void fleet[Symbol.asyncDispose]().finally(() => kept.dispose())
    },
  })
}

type Identity = {
  signer: NodeSigner
  authorities: readonly X509Certificate[]
  receiptKey: string
}

function readIdentity(settings: FleetSettings, receiptKeyPath: string): Result<Identity, string> {
  const { node, ca, cert, key } = settings
  try {
    const signer = new NodeSigner(node, readFileSync(cert, "utf8"), readFileSync(key, "utf8"))
    const authorities = certificatesIn(readFileSync(ca, "utf8"))
    const problem = signer.problem(authorities)
    if (problem !== null) return fail(`--fleet-cert ${cert}: ${problem}.`)
    const own = createPublicKey(readOwned(receiptKeyPath, mostKeyBytes)?.toString("utf8") ?? "")
    const receiptKey = own.export({ type: "spki", format: "pem" })
    return ok({ signer, authorities, receiptKey })
  } catch (error) {
    return fail(`This node's certificate or key cannot be read: ${messageOf(error)}.`)
  }
}

async function connect(settings: FleetSettings): Promise<ConnectedEngine> {
  const engine = await NatsEngine.open(settings)
  const make = async () => {
    const nodes = await engine.table("nodes", NodeEntry)
    const orders = await engine.table("orders", NodeOrder)
    const placements = await engine.table("placements", PlacementEntry)
    const records = await engine.table("records", IndexEntry)
    const keys = await engine.table("keys", KeyEntry, keysKeptMs)
    return { nodes, orders, placements, records, keys }
  }
  try {
    const tables = await make()
    return {
      tables,
      facts: () => engine.facts(Object.values(tables)),
      makeTables: async () => void (await make()),
      [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
    }
  } catch (error) {
    await engine[Symbol.asyncDispose]()
    throw error
  }
}
