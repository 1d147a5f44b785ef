import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import { ExecutionSlots } from "../../../../src/service/keeper/admission/execution-slots.ts"
import { cpuMsOf } from "../../../support/cpu-time.ts"

const ann = { principal: "ann", exempt: false }
const bob = { principal: "bob", exempt: false }

describe("a queue of a hundred thousand", () => {
  test("costs each no more than a queue of a thousand does, whoever leaves it", () => {
    const many = Math.min(...[1, 2, 3].map(() => costOf(100_000, 1)))
    const few = Math.min(...[1, 2, 3].map(() => costOf(1000, 100)))
    expect(many / few).toBeLessThan(20) // a search through the queue would be a hundred
  }, 60_000)
})

/** Processor time of queues in which so many wait, leave from the middle, or are served. */
function costOf(count: number, queues: number): number {
  const beforeMs = cpuMsOf(process.pid)
  for (let queue = 0; queue < queues; queue += 1) serveQueue(count)
  return cpuMsOf(process.pid) - beforeMs
}

function serveQueue(count: number): void {
  const most = { maxQueue: count, maxQueuePerPrincipal: count, maxExecutionsPerPrincipal: 1 }
  const slots = new ExecutionSlots<string>({ ...most, maxExecutions: 1 })
  const first = slots.acquire(bob)
  const stays = Array.from({ length: count }, () => slots.enqueue(ann, "a"))
  for (let at = 1; at < count; at += 2) {
    stays[at]?.leaveQueue()
    stays[at]?.release()
  }
  first.release()
  for (let at = 0; at < count; at += 2) {
    assert(slots.admitNext() === "a")
    stays[at]?.release()
  }
}
