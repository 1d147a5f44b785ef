import type { ExecutionId } from "../../execution/id.ts"
import type { ExecutionSpec } from "../../execution/spec.ts"
import type { ExecuteParams } from "../../protocol/execute.ts"
import type { HandedExecutions } from "../../protocol/handover.ts"
import { type LiveShare, shareOf } from "./admission/disk-use.ts"
import type { Starter, Stay } from "./admission/places.ts"
import type { Supervision } from "./supervision/supervision.ts"

/** What an execution waits with; `planned` is what was decided, as against what is recorded. */
export type Waiting = {
  supervision: Supervision
  planned: ExecutionSpec
  request: ExecuteParams
}

/** Who started a live execution, and where it stays. */
export type Visit = {
  supervision: Supervision
  starter: Starter
  stay: Stay
  /** Null for those that never had to wait. */
  waiting: Waiting | null
}

/** Every live execution, from its arrival until its end is told. */
export class LiveTable {
  readonly #visits = new Map<ExecutionId, Visit>()

  get size(): number {
    return this.#visits.size
  }

  find(id: ExecutionId): Supervision | null {
    return this.#visits.get(id)?.supervision ?? null
  }

  visit(id: ExecutionId): Visit | null {
    return this.#visits.get(id) ?? null
  }

  /** A snapshot: executions may come and go while it is gone through. */
  all(): Supervision[] {
    return [...this.#visits.values()].map(({ supervision }) => supervision)
  }

  /** `left` is called when it has ended, and is no longer here. */
  enter(visit: Visit, left: () => void): void {
    const { id } = visit.supervision.record
    this.#visits.set(id, visit)
    const leave = () => {
      this.#visits.delete(id)
      left()
    }
    void visit.supervision.ended.then(leave)
  }

  *shares(): Iterable<LiveShare> {
    for (const [id, { starter, supervision }] of this.#visits) {
      yield shareOf(id, starter, supervision.transcriptFacts)
    }
  }

  /** Those in the middle of something: see `Supervision`. */
  busy(how: "isAtRest" | "canBeReleased"): ExecutionId[] {
    return [...this.#visits].filter(([, visit]) => !visit.supervision[how]).map(([id]) => id)
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
    for (const { supervision, starter, waiting } of this.#visits.values()) {
      const { exempt } = starter
      const { record } = supervision
      if (record.state.kind === "queued" && waiting !== null) {
        const { planned, request } = waiting
        handedOver.queued.push({ record, exempt, planned, request })
        continue
      }
      const handed = supervision.handOver()
      if (handed === null) return null
      handedOver.executions.push({ ...handed, exempt })
    }
    return handedOver
  }
}
