import { type ExecutionId, executionIdFrom } from "../../src/execution/id.ts"
import { Forest } from "../../src/service/os/trees/forest.ts"
import { RealChild } from "./real-child.ts"

/** A forest like the keeper's: older than everything that grows in it. */
export class Planted {
  readonly #own = new Set<number>()
  readonly forest = new Forest((pid) => this.#own.has(pid))

  grow(id: ExecutionId, script: string, env: Record<string, string> = {}): RealChild {
    const leader = new RealChild(script, { executionId: id, env })
    this.#own.add(leader.pid)
    this.forest.add(id, leader.identity)
    return leader
  }

  pids(id: ExecutionId): number[] {
    const members = this.forest.members(id)
    return members.map(({ pid }) => pid).toSorted((a, b) => a - b)
  }
}

/** Another one in each run: what an earlier run may have left must not be found again. */
export function newId(): ExecutionId {
  return executionIdFrom(crypto.getRandomValues(new Uint8Array(16)))
}
