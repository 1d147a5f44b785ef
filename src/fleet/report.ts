import type { ExecutionId } from "../execution/id.ts"
import { type ExecutionRecord, hasEnded } from "../execution/record.ts"
import { liveStates } from "../execution/state.ts"
import type { Log } from "../lib/log.ts"
import type { JournalReader } from "../service/gateway/ports.ts"
import type { EngineFailure, Stored, Tables } from "./engine-port.ts"
import type { IndexEntry, PlacementEntry } from "./entries.ts"
import { principalInFleet } from "./fleet-caller.ts"
import type { IndexRecords } from "./index-records.ts"
import type { Placements } from "./placements.ts"

export type ReportPorts = {
  node: string
  tables: () => Pick<Tables, "records" | "placements"> | null
  journal: () => Pick<JournalReader, "find" | "list" | "receipt">
  placements: Placements
  index: Pick<IndexRecords, "told">
  /** Of this node, also while it only joins. */
  epoch: () => number
  /** It was declared lost while this node could not say otherwise: its processes are ended. */
  endLost: (id: ExecutionId) => void
  log: Log
}

const pageSize = 500
const retryMs = 1000
/** A message of the engine holds a mebibyte: of what is larger, the index keeps the beginning. */
const mostLength = 512 * 1024
const cutLength = 16 * 1024

/** Tells the fleet what runs here and how it ended; what cannot be told now is told later. */
export class Report implements Disposable {
  readonly #ports: ReportPorts
  readonly #pending = new Set<ExecutionId>()
  #isTelling = false
  #isOver = false

  constructor(ports: ReportPorts) {
    this.#ports = ports
  }

  changed(id: ExecutionId): void {
    this.#pending.add(id)
    void this.#tell()
  }

  /** Before anything new may start here: everything that runs has its placement again. */
  async reassert(): Promise<boolean> {
    const { journal } = this.#ports
    for (const state of liveStates) {
      for (const record of journal().list({ state, limit: 100_000 })?.records ?? []) {
        if (!(await this.#place(record)).ok) return false
        this.changed(record.id)
      }
    }
    return true
  }

  /** Everything that the index does not have yet, and what it should not have any more. */
  async reconcile(): Promise<void> {
    const { journal, index, tables, node } = this.#ports
    const gone = new Set(index.told.keys())
    let cursor: string | undefined
    do {
      const page = journal().list({ limit: pageSize, ...(cursor !== undefined && { cursor }) })
      for (const record of page?.records ?? []) {
        gone.delete(record.id)
        const isTold = index.told.get(record.id) === (hasEnded(record) ? "ended" : "live")
        if (!isTold) this.changed(record.id)
      }
      cursor = page?.cursor ?? undefined
      await new Promise(setImmediate)
    } while (cursor !== undefined && !this.#isOver)
    for (const id of gone) {
      if (journal().find(id) !== null || this.#isOver) continue
      await tables()?.records.remove(`${node}.${id}`)
      await tables()?.placements.remove(id)
      index.told.delete(id)
    }
  }

  async #tell(): Promise<void> {
    if (this.#isTelling) return
    this.#isTelling = true
    try {
      while (!this.#isOver) {
        const [id] = this.#pending
        if (id === undefined) return
        this.#pending.delete(id)
        const told = await this.#tellOf(id)
        if (told.ok) continue
        this.#pending.add(id)
        await Bun.sleep(retryMs)
      }
    } finally {
      this.#isTelling = false
    }
  }

  async #tellOf(id: ExecutionId): Promise<{ ok: boolean }> {
    const { tables, journal, node, index } = this.#ports
    const record = journal().find(id)
    const open = tables()
    if (record === null) return { ok: true }
    if (open === null) return { ok: false }
    const receipt = hasEnded(record) ? journal().receipt(id) : null
    if (index.told.get(id) === "ended" && hasEnded(record)) return { ok: true }
    const written = await open.records.put(`${node}.${id}`, entryOf(node, record, receipt))
    if (!written.ok) return written
    index.told.set(id, hasEnded(record) ? "ended" : "live")
    return this.#place(record)
  }

  /** Its placement says what its record does; nothing of this is decided by what was read alone. */
  async #place(record: ExecutionRecord): Promise<{ ok: boolean }> {
    const { tables, placements, endLost } = this.#ports
    const open = tables()
    if (open === null) return { ok: false }
    if (placements.lost(record.id) !== null) {
      if (!hasEnded(record)) endLost(record.id)
      return { ok: true }
    }
    const wanted = this.#wanted(record)
    const known = placements.live(record.id)
    if (known !== null && isSame(known.value, wanted)) return { ok: true }
    const found = known === null ? await open.placements.get(record.id) : { ok: true, value: known }
    if (!found.ok || !("value" in found)) return { ok: false }
    const written = await this.#write(record, found.value, wanted)
    return { ok: written === null || written.kind === "conflict" }
  }

  async #write(
    record: ExecutionRecord,
    stored: Stored<PlacementEntry> | null,
    wanted: PlacementEntry,
  ): Promise<EngineFailure | null> {
    const { tables, placements, endLost, log, node } = this.#ports
    const open = tables()
    if (open === null) return { kind: "unavailable", why: "not connected" }
    if (stored?.value.state === "lost") {
      placements.changed({ key: record.id, ...stored })
      if (!hasEnded(record)) endLost(record.id)
      return null
    }
    if (stored !== null && isSame(stored.value, wanted)) return null
    if (stored !== null && stored.value.node !== node && stored.value.attempt >= wanted.attempt) {
      const nodes = [node, stored.value.node]
      log.error({ executionId: record.id, nodes }, "execution is on two nodes")
      return null
    }
    const written =
      stored === null
        ? await open.placements.create(record.id, wanted)
        : await open.placements.replace(record.id, wanted, stored.revision)
    if (!written.ok) {
      if (written.failure.kind === "conflict") this.changed(record.id)
      return written.failure
    }
    placements.changed({ key: record.id, value: wanted, revision: written.value })
    return null
  }

  #wanted(record: ExecutionRecord): PlacementEntry {
    const { node, epoch } = this.#ports
    const place = record.placement ?? { epoch: epoch(), attempt: 1 }
    const state = hasEnded(record) ? "ended" : "accepted"
    return { state, node, epoch: place.epoch, attempt: place.attempt }
  }

  [Symbol.dispose](): void {
    this.#isOver = true
  }
}

function isSame(one: PlacementEntry, other: PlacementEntry): boolean {
  return one.state === other.state && one.node === other.node && one.attempt === other.attempt
}

function entryOf(node: string, record: ExecutionRecord, receipt: IndexEntry["receipt"]) {
  const told = { ...record, principal: principalInFleet(record.principal, node) }
  const entry = { record: told, receipt }
  return JSON.stringify(entry).length <= mostLength ? entry : { record: shortened(told), receipt }
}

function shortened(record: ExecutionRecord): ExecutionRecord {
  const { spec } = record
  const command = spec.command === null ? null : `${spec.command.slice(0, cutLength)}…`
  const [program = ""] = spec.argv
  return {
    ...record,
    spec: { ...spec, command, argv: [program.slice(0, cutLength), "…"], envNames: [] },
  }
}
