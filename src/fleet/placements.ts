import { LossNotice } from "../execution/placement.ts"
import type { ExecutionRecord } from "../execution/record.ts"
import { tryParseJson } from "../lib/parse-json.ts"
import type { Change, Stored } from "./engine-port.ts"
import type { PlacementEntry } from "./entries.ts"

export type LostPlacement = Extract<PlacementEntry, { state: "lost" }>
type LivePlacement = Extract<PlacementEntry, { state: "assigned" | "accepted" }>
export type KnownPlacement = Stored<LivePlacement> & { seenAtMs: number }

/** What is declared lost and still told; past it, the oldest is forgotten. */
const mostLost = 100_000

/** The placements of what has not ended, as they were told last, and of what was lost. */
export class Placements {
  readonly #live = new Map<string, KnownPlacement>()
  readonly #lost = new Map<string, LostPlacement>()
  readonly #revisions = new Map<string, number>()
  readonly #monotonicMs: () => number
  readonly #isGenuine: (id: string, entry: LostPlacement) => boolean
  readonly #wasLost: (id: string, entry: LostPlacement) => void

  constructor(
    monotonicMs: () => number,
    isGenuine: (id: string, entry: LostPlacement) => boolean,
    wasLost: (id: string, entry: LostPlacement) => void,
  ) {
    this.#monotonicMs = monotonicMs
    this.#isGenuine = isGenuine
    this.#wasLost = wasLost
  }

  /** The engine tells everything again, perhaps with smaller revisions. */
  restart(): void {
    this.#revisions.clear()
  }

  /** What the engine has said may not be so any more; what was told to be lost stays that. */
  forgetLive(): void {
    this.#live.clear()
    this.#revisions.clear()
  }

  changed({ key, value, revision }: Change<PlacementEntry>): void {
    if (revision < (this.#revisions.get(key) ?? 0)) return // older than what we wrote ourselves
    if (value === null || value.state === "ended" || value.state === "refused") {
      this.#live.delete(key)
      this.#revisions.delete(key)
      return
    }
    if (value.state === "lost") {
      this.#live.delete(key)
      this.#revisions.delete(key)
      if (this.#lost.has(key) || !this.#isGenuine(key, value)) return
      this.#lost.set(key, value)
      const [oldest] = this.#lost.keys()
      if (this.#lost.size > mostLost && oldest !== undefined) this.#lost.delete(oldest)
      this.#wasLost(key, value)
      return
    }
    this.#revisions.set(key, revision)
    const seenAtMs = this.#live.get(key)?.seenAtMs ?? this.#monotonicMs()
    this.#live.set(key, { value, revision, seenAtMs })
  }

  live(id: string): KnownPlacement | null {
    return this.#live.get(id) ?? null
  }

  lost(id: string): LostPlacement | null {
    return this.#lost.get(id) ?? null
  }

  ofNode(node: string): Array<[id: string, KnownPlacement]> {
    return [...this.#live].filter(([, { value }]) => value.node === node)
  }

  countOf(node: string): number {
    let count = 0
    for (const { value } of this.#live.values()) if (value.node === node) count += 1
    return count
  }
}

/** The record of what was declared lost: whatever its node says of it later, it stays that. */
export function lostRecord(record: ExecutionRecord, { notice, ...place }: LostPlacement) {
  const told = noticeOf(notice)
  const { node, epoch, attempt } = place
  const evidence = record.state.kind === "ended" ? { evidence: evidenceText(record) } : {}
  return {
    ...record,
    state: {
      kind: "ended",
      outcome: { kind: "lost", reason: told?.reason ?? "its node was declared lost" },
    },
    endedAt: told?.declared_at ?? record.endedAt ?? record.createdAt,
    hashes: null,
    placement: { node, epoch, attempt, loss: notice, ...evidence },
  } as const satisfies ExecutionRecord
}

export function noticeOf({ payload }: { payload: string }): LossNotice | null {
  const json = tryParseJson(Buffer.from(payload, "base64").toString("utf8"))
  return LossNotice.safeParse(json).data ?? null
}

function evidenceText({ state, endedAt }: ExecutionRecord): string {
  const outcome = state.kind === "ended" ? JSON.stringify(state.outcome) : state.kind
  return `its node has recorded ${outcome} at ${endedAt ?? "an unknown time"}`
}
