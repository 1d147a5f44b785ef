import type { ExecutionId } from "../../execution/id.ts"
import { nameOf } from "../../execution/name.ts"
import { type ExecutionRecord, hasEnded } from "../../execution/record.ts"
import type { ExecutionSpec } from "../../execution/spec.ts"
import type { ExecuteParams } from "../../protocol/execute.ts"
import type { HandedExecutions } from "../../protocol/handover.ts"
import { type LiveShare, shareOf } from "./admission/disk-use.ts"
import type { ExecutionSlot, Starter } from "./admission/execution-slots.ts"
import type { AgentStart } from "./agents/agent-start.ts"
import type { Supervision } from "./supervision/supervision.ts"

/** What a queued execution will start with; `planned` is unredacted, unlike what is recorded. */
export type QueuedStart = {
  supervision: Supervision
  planned: ExecutionSpec
  request: ExecuteParams
  agent: AgentStart | null
}

export type LiveEntry = {
  supervision: Supervision
  starter: Starter
  slot: ExecutionSlot
  /** Null for those that were never queued. */
  queuedStart: QueuedStart | null
}

/** Every live execution, from its acceptance until its end is reported. */
export class LiveTable {
  readonly #entries = new Map<ExecutionId, LiveEntry>()

  get size(): number {
    return this.#entries.size
  }

  find(id: ExecutionId): Supervision | null {
    return this.#entries.get(id)?.supervision ?? null
  }

  entry(id: ExecutionId): LiveEntry | null {
    return this.#entries.get(id) ?? null
  }

  /** The one that this principal calls so. Only the live are looked through: they are few. */
  named(name: string, principal: string): ExecutionRecord | null {
    for (const { supervision } of this.#entries.values()) {
      const { record } = supervision
      const isNamedSo = nameOf(record.spec.labels) === name && record.principal === principal
      if (isNamedSo && !hasEnded(record)) return record
    }
    return null
  }

  /** A snapshot: executions may come and go while it is gone through. */
  all(): Supervision[] {
    return [...this.#entries.values()].map(({ supervision }) => supervision)
  }

  /** `onEnded` is called when it has ended and was removed. */
  add(entry: LiveEntry, onEnded: () => void): void {
    const { id } = entry.supervision.record
    this.#entries.set(id, entry)
    const remove = () => {
      this.#entries.delete(id)
      onEnded()
    }
    void entry.supervision.ended.then(remove)
  }

  *shares(): Iterable<LiveShare> {
    for (const [id, { starter, supervision }] of this.#entries) {
      yield shareOf(id, starter, supervision.transcriptFacts)
    }
  }

  /** Those in the middle of something: see `Supervision`. */
  busy(how: "isAtRest" | "canBeReleased"): ExecutionId[] {
    return [...this.#entries].filter(([, entry]) => !entry.supervision[how]).map(([id]) => id)
  }

  /** Resolves when the output of every one that is here now is read. */
  async allRead(): Promise<void> {
    await Promise.all(this.all().map((supervision) => supervision.isRead))
  }

  /** Leaves every child to the program that takes this process over. There is no way back. */
  async release(): Promise<void> {
    await Promise.all(this.all().map((supervision) => supervision.release()))
  }

  /** What that program goes on with; null as long as something else has to happen first. */
  handOver(): HandedExecutions | null {
    const handedOver: HandedExecutions = { executions: [], queued: [] }
    for (const { supervision, starter, slot, queuedStart: waiting } of this.#entries.values()) {
      const { exempt } = starter
      const { record } = supervision
      if (record.state.kind === "queued" && waiting !== null) {
        if (!slot.isWaiting()) return null // it was canceled, and the journal may have its end
        const { planned, request, agent } = waiting
        handedOver.queued.push({ record, exempt, planned, request, agent })
        continue
      }
      const handed = supervision.handOver()
      if (handed === null) return null
      handedOver.executions.push({ ...handed, exempt })
    }
    return handedOver
  }
}
