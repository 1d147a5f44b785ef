import { type ExecutionId, ExecutionId as IdSchema } from "../execution/id.ts"
import type { LossNotice } from "../execution/placement.ts"
import type { Log } from "../lib/log.ts"
import type { Stored, Tables } from "./engine-port.ts"
import type { PlacementEntry } from "./entries.ts"
import type { Members } from "./members.ts"
import type { Placements } from "./placements.ts"
import type { NodeSigner } from "./signed-statements.ts"

export type LossPorts = {
  self: string
  members: Members
  placements: Placements
  tables: () => Pick<Tables, "placements"> | null
  signer: NodeSigner
  /** Whether this node is about to start it. */
  isUnderway: (id: string) => boolean
  /** What was assigned to this node, and not asked of it for so long, nobody will ask for. */
  danglingAfterMs: number
  monotonicMs: () => number
  now: () => Date
  log: Log
}

/** Declares what is lost: each execution once, as the engine picks one of those who would. */
export class Losses {
  readonly #ports: LossPorts
  #isLooking = false

  constructor(ports: LossPorts) {
    this.#ports = ports
  }

  /** What every node looks after, from time to time. */
  async lookAfter(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      for (const { name, silentMs } of this.#ports.members.lostNodes()) {
        const silence = `${Math.round(silentMs / 1000)} s`
        await this.declareNode(name, `node ${name} has not been heard of for ${silence}`)
      }
      await this.#refuseDangling()
    } finally {
      this.#isLooking = false
    }
  }

  /** Everything that is placed on a node; answers how much of it is lost now. */
  async declareNode(node: string, why: string): Promise<number> {
    const { placements, log } = this.#ports
    let lost = 0
    for (const [given, known] of placements.ofNode(node)) {
      const id = IdSchema.safeParse(given).data
      if (id === undefined) continue
      await this.declare(id, known, why)
      lost += placements.lost(id) === null ? 0 : 1
    }
    if (lost > 0) log.warn({ node, executions: lost, why }, "declared lost")
    return lost
  }

  async declare(id: ExecutionId, known: Stored<PlacementEntry>, why: string): Promise<void> {
    const { self, signer, now, tables, placements } = this.#ports
    const { node, epoch, attempt, state } = known.value
    const started = state === "accepted" ? "it may have started" : "it was not started"
    const notice: LossNotice = {
      version: 1,
      execution_id: id,
      placed: { node, epoch, attempt },
      had_accepted: state === "accepted",
      declared_by: self,
      declared_at: now().toISOString(),
      reason: `${why}: ${started}, and is not started again`,
    }
    const entry = { state: "lost", node, epoch, attempt, notice: signer.signLoss(notice) } as const
    const written = await tables()?.placements.replace(id, entry, known.revision)
    if (!written?.ok) return // it has ended, or somebody else has declared it
    placements.changed({ key: id, value: entry, revision: written.value })
  }

  /** The node that assigned it is gone: its slot is free again. */
  async #refuseDangling(): Promise<void> {
    const { self, placements, tables, isUnderway, danglingAfterMs, monotonicMs } = this.#ports
    for (const [id, { value, revision, seenAtMs }] of placements.ofNode(self)) {
      const isDangling = monotonicMs() - seenAtMs > danglingAfterMs
      if (value.state !== "assigned" || !isDangling || isUnderway(id)) continue
      const { node, epoch, attempt } = value
      const why = "nobody asked for it"
      const refused = { state: "refused", node, epoch, attempt, why } as const
      await tables()?.placements.replace(id, refused, revision)
    }
  }
}
