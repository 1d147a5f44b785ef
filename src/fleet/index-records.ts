import type { X509Certificate } from "node:crypto"
import { ExecutionId } from "../execution/id.ts"
import { Receipt, type SignedReceipt } from "../execution/receipt.ts"
import { type ExecutionRecord, hasEnded } from "../execution/record.ts"
import { canonicalText } from "../lib/canonical-text.ts"
import type { Log } from "../lib/log.ts"
import { tryParseJson } from "../lib/parse-json.ts"
import type { Change } from "./engine-port.ts"
import type { IndexEntry, NodeKey } from "./entries.ts"
import type { Mirror } from "./mirror-port.ts"
import { type LostPlacement, lostRecord, type Placements } from "./placements.ts"
import { isSignedBy, isVouchedFor } from "./signed-statements.ts"

export type IndexPorts = {
  self: string
  mirror: Mirror
  placements: Pick<Placements, "lost">
  keyOf: (node: string) => NodeKey | null
  authorities: readonly X509Certificate[]
  log: Log
}

type Watcher = (record: ExecutionRecord) => void

/** Takes what nodes tell of their executions: an end only with a receipt of the node's key. */
export class IndexRecords {
  readonly #ports: IndexPorts
  readonly #watchers = new Set<Watcher>()
  /** What this node has told of its own. */
  readonly told = new Map<ExecutionId, "live" | "ended">()

  constructor(ports: IndexPorts) {
    this.#ports = ports
  }

  watch(watcher: Watcher): Disposable {
    this.#watchers.add(watcher)
    return { [Symbol.dispose]: () => void this.#watchers.delete(watcher) }
  }

  changed({ key, value }: Change<IndexEntry>): void {
    const [node = "", given] = key.split(".")
    const id = ExecutionId.safeParse(given).data
    if (id === undefined) return
    if (node === this.#ports.self) {
      if (value === null) this.told.delete(id)
      else this.told.set(id, hasEnded(value.record) ? "ended" : "live")
      return
    }
    if (value === null) {
      if (this.#nodeOf(id) === node) this.#ports.mirror.remove(id)
      return
    }
    if (value.record.id === id) this.take(node, value)
  }

  /** What a node says of one of its executions. */
  take(node: string, { record, receipt }: IndexEntry): void {
    const { mirror, placements, log } = this.#ports
    const other = this.#nodeOf(record.id)
    if (other !== null && other !== node) {
      log.error({ executionId: record.id, nodes: [other, node] }, "execution is on two nodes")
      return
    }
    const lost = placements.lost(record.id)
    const told = this.#believed(node, placedOn(node, record), receipt)
    const kept = lost === null ? told : lostRecord(told, lost)
    mirror.put(kept, hasEnded(record) ? receipt : null)
    for (const watcher of this.#watchers) watcher(kept)
  }

  /** So that whoever has started it finds it at once. */
  started(node: string, record: ExecutionRecord): void {
    const isNew = !hasEnded(record) && this.#ports.mirror.find(record.id) === null
    if (isNew) this.take(node, { record, receipt: null })
  }

  /** It was declared lost: what is known of it says so from now on. */
  lost(id: string, entry: LostPlacement): void {
    const { mirror } = this.#ports
    const known = ExecutionId.safeParse(id).data
    const record = known === undefined ? null : mirror.find(known)
    if (record === null || record.placement?.loss !== undefined) return
    const kept = lostRecord(record, entry)
    mirror.put(kept, mirror.receipt(record.id))
    for (const watcher of this.#watchers) watcher(kept)
  }

  #nodeOf(id: ExecutionId): string | null {
    return this.#ports.mirror.find(id)?.placement?.node ?? null
  }

  #believed(node: string, record: ExecutionRecord, receipt: SignedReceipt | null): ExecutionRecord {
    if (!hasEnded(record)) return record
    const { keyOf, authorities, log } = this.#ports
    const key = keyOf(node)
    const isGenuine =
      key !== null &&
      receipt !== null &&
      isVouchedFor(node, key, authorities) &&
      isSignedBy(key, receipt) &&
      saysTheSame(record, receipt)
    if (isGenuine) return record
    log.error({ executionId: record.id, node }, "an end came without a receipt of its node's key")
    const reason = `node ${node} told of its end without a receipt that its key has signed`
    return { ...record, state: { kind: "ended", outcome: { kind: "lost", reason } }, hashes: null }
  }
}

function placedOn(node: string, record: ExecutionRecord): ExecutionRecord {
  const { epoch = 0, attempt = 1 } = record.placement ?? {}
  return { ...record, placement: { node, epoch, attempt } }
}

function saysTheSame({ id, state }: ExecutionRecord, { payload }: SignedReceipt): boolean {
  const json = tryParseJson(Buffer.from(payload, "base64").toString("utf8"))
  const receipt = Receipt.safeParse(json).data
  if (receipt === undefined || receipt.execution_id !== id || state.kind !== "ended") return false
  return canonicalText(receipt.outcome) === canonicalText(state.outcome)
}
