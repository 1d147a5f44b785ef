import { describe, expect, test } from "bun:test"
import assert from "node:assert/strict"
import fc from "fast-check"
import type {
  ExecutionSlot,
  SlotLimits,
  Starter,
} from "../../../../src/service/keeper/admission/execution-slots.ts"
import { ExecutionSlots } from "../../../../src/service/keeper/admission/execution-slots.ts"

const limits: SlotLimits = {
  maxExecutions: 3,
  maxQueue: 6,
  maxExecutionsPerPrincipal: 2,
  maxQueuePerPrincipal: 3,
}
const ann = { principal: "ann", exempt: false }
const bob = { principal: "bob", exempt: false }
const root = { principal: "ann", exempt: true }

/** Comes to the places as the keeper would, and answers what became of it. */
function arrive(slots: ExecutionSlots<string>, starter: Starter, name: string) {
  const prospect = slots.availability(starter)
  if (prospect === "runs") return { prospect, stay: slots.acquire(starter) }
  if (prospect === "waits") return { prospect, stay: slots.enqueue(starter, name) }
  return { prospect, stay: null }
}

function admitted(slots: ExecutionSlots<string>): string[] {
  const names: string[] = []
  for (let next = slots.admitNext(); next !== null; next = slots.admitNext()) names.push(next)
  return names
}

describe("places that several principals want", () => {
  test("go to each up to its own bound, though there are more", () => {
    const slots = new ExecutionSlots<string>(limits)

    const prospects = ["1", "2", "3"].map((name) => arrive(slots, ann, name).prospect)

    expect(prospects).toEqual(["runs", "runs", "waits"])
    expect(arrive(slots, bob, "b").prospect).toBe("runs")
    expect(admitted(slots)).toEqual([])
  })

  test("go in turn to those who wait, and each is served in its order", () => {
    const slots = new ExecutionSlots<string>({ ...limits, maxExecutions: 1 })
    const stays = new Map([["first", arrive(slots, bob, "first").stay]])
    for (const name of ["a1", "a2", "a3"]) stays.set(name, arrive(slots, ann, name).stay)
    for (const name of ["b1", "b2"]) stays.set(name, arrive(slots, bob, name).stay)

    const order = ["first"]
    for (let at = 0; at < 6; at += 1) {
      stays.get(order[at] ?? "")?.release()
      order.push(...admitted(slots))
    }

    expect(order).toEqual(["first", "a1", "b1", "a2", "b2", "a3"])
  })

  test("are not held up by one that waits at its bound", () => {
    const slots = new ExecutionSlots<string>({
      ...limits,
      maxExecutions: 2,
      maxExecutionsPerPrincipal: 1,
    })
    arrive(slots, ann, "a1")
    const second = arrive(slots, bob, "b1")
    arrive(slots, ann, "a2")
    arrive(slots, bob, "b2")

    second.stay?.release()

    expect(admitted(slots)).toEqual(["b2"])
  })

  test("are refused by name: to one at its bound, or to all", () => {
    const slots = new ExecutionSlots<string>(limits)
    for (let count = 0; count < 5; count += 1) arrive(slots, ann, "a")

    expect(slots.availability(ann)).toBe("full-for-principal")
    expect(slots.availability(root)).toBe("runs")
    for (let count = 0; count < 4; count += 1) arrive(slots, root, "r")
    expect(slots.availability(bob)).toBe("full")
  })

  test("go to those who have waited since, not to one who left the queue and came back", () => {
    const slots = new ExecutionSlots<string>({ ...limits, maxExecutions: 2 })
    arrive(slots, ann, "a1")
    const running = arrive(slots, bob, "b1").stay
    arrive(slots, ann, "a2").stay?.release()
    arrive(slots, bob, "b2")
    arrive(slots, ann, "a3")

    running?.release()

    expect(admitted(slots)).toEqual(["b2"])
  })

  test("keep a seat that was given up until its end", () => {
    const slots = new ExecutionSlots<string>({ ...limits, maxExecutions: 0, maxQueue: 1 })
    const { stay } = arrive(slots, ann, "a")

    expect(stay?.leaveQueue()).toBe(true)
    expect(stay?.leaveQueue()).toBe(false)
    expect(slots.availability(bob)).toBe("full")
    stay?.release()
    stay?.release()
    expect(slots).toMatchObject({ waiting: 0, running: 0, queues: 0 })
    expect(slots.availability(bob)).toBe("waits")
  })
})

describe("whatever comes, ends and is canceled", () => {
  const starters = [ann, bob, root, { principal: "cy", exempt: false }]
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant("arrive"), of: fc.nat(3) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("end"), of: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("cancel"), of: fc.nat(50) }) },
  )
  const anyBounds = fc.record({
    maxExecutions: fc.integer({ min: 1, max: 5 }),
    maxQueue: fc.integer({ min: 0, max: 12 }),
    maxExecutionsPerPrincipal: fc.integer({ min: 1, max: 4 }),
    maxQueuePerPrincipal: fc.integer({ min: 0, max: 6 }),
  })

  // Who leaves the queue and comes again has no older claim than those who stayed.
  const arrivals = (...of: number[]) => of.map((one) => ({ kind: "arrive" as const, of: one }))
  const leftQueue: [SlotLimits, { kind: "arrive" | "end" | "cancel"; of: number }[]] = [
    { maxExecutions: 1, maxQueue: 2, maxExecutionsPerPrincipal: 2, maxQueuePerPrincipal: 1 },
    [...arrivals(0, 3, 1), { kind: "end", of: 0 }, { kind: "cancel", of: 0 }, ...arrivals(3, 1)],
  ]

  test("no bound is passed, no place stays empty, order is kept, everybody gets a turn", () => {
    fc.assert(
      fc.property(anyBounds, fc.array(step, { maxLength: 120 }), (given, steps) => {
        const model = new Model(given)
        for (const { kind, of } of steps) {
          if (kind === "arrive") model.arrive(starters[of] ?? ann)
          else if (kind === "end") model.end(of)
          else model.cancel(of)
          model.check()
        }
        model.drain()
      }),
      { numRuns: 300, examples: [leftQueue] },
    )
  })
})

type Queued = { starter: Starter; number: number; stay: ExecutionSlot }

/** The plain and slow way to say the same: lists, counted anew every time. */
class Model {
  readonly #limits: SlotLimits
  readonly #slots: ExecutionSlots<number>
  readonly #running: Queued[] = []
  readonly #waiting: Queued[] = []
  /** Lane that waits and may run → those that had a turn since. */
  readonly #turnsOfOthers = new Map<string, Set<string>>()
  #number = 0

  constructor(given: SlotLimits) {
    this.#limits = given
    this.#slots = new ExecutionSlots(given)
  }

  arrive(starter: Starter): void {
    const number = (this.#number += 1)
    const prospect = this.#slots.availability(starter)
    const { maxQueue, maxQueuePerPrincipal } = this.#limits
    if (prospect === "runs") {
      this.#running.push({ starter, number, stay: this.#slots.acquire(starter) })
    } else if (prospect === "waits") {
      this.#waiting.push({ starter, number, stay: this.#slots.enqueue(starter, number) })
    } else if (prospect === "full") {
      expect(this.#waiting.length).toBe(maxQueue)
    } else {
      expect(starter.exempt).toBe(false)
      expect(own(this.#waiting, starter)).toBe(maxQueuePerPrincipal)
    }
    this.#fill()
  }

  end(at: number): void {
    const [queued] = this.#running.splice(at % Math.max(1, this.#running.length), 1)
    queued?.stay.release()
    this.#fill()
  }

  cancel(at: number): void {
    const [queued] = this.#waiting.splice(at % Math.max(1, this.#waiting.length), 1)
    if (queued === undefined) return
    expect(queued.stay.leaveQueue()).toBe(true)
    queued.stay.release()
    // Whoever no longer waits has no claim to a turn, also when it comes again later.
    if (own(this.#waiting, queued.starter) === 0) this.#turnsOfOthers.delete(laneOf(queued.starter))
    this.#fill()
  }

  check(): void {
    const { maxExecutions, maxQueue } = this.#limits
    expect(this.#slots.running).toBe(this.#running.length)
    expect(this.#slots.waiting).toBe(this.#waiting.length)
    expect(this.#running.length).toBeLessThanOrEqual(maxExecutions)
    expect(this.#waiting.length).toBeLessThanOrEqual(maxQueue)
    for (const { starter } of this.#running) {
      expect(own(this.#running, starter)).toBeLessThanOrEqual(this.#mostOf(starter))
    }
    const couldRun = this.#waiting.filter(({ starter }) => this.#mayRun(starter))
    if (this.#running.length < maxExecutions) expect(couldRun).toEqual([])
  }

  drain(): void {
    while (this.#running.length > 0) {
      this.end(0)
      this.check()
    }
    expect(this.#waiting).toEqual([])
    expect(this.#slots.queues).toBe(0)
  }

  #fill(): void {
    const before = [...this.#waiting]
    for (let number = this.#slots.admitNext(); number !== null; number = this.#slots.admitNext()) {
      const at = this.#waiting.findIndex((queued) => queued.number === number)
      const [queued] = this.#waiting.splice(at, 1)
      assert(queued !== undefined, `${number} did not wait`)
      const firstOfIts = before.find((one) => laneOf(one.starter) === laneOf(queued.starter))
      expect(queued.number).toBe(firstOfIts?.number ?? -1)
      before.splice(before.indexOf(queued), 1)
      this.#noteTurn(queued.starter)
      this.#running.push(queued)
    }
  }

  /** While somebody waits who may run, nobody else has two turns. */
  #noteTurn(served: Starter): void {
    const lane = laneOf(served)
    this.#turnsOfOthers.delete(lane)
    const ready = this.#waiting.filter(({ starter }) => this.#mayRun(starter))
    const others = new Set(ready.map(({ starter }) => laneOf(starter)))
    others.delete(lane)
    for (const one of this.#turnsOfOthers.keys()) {
      if (!others.has(one)) this.#turnsOfOthers.delete(one)
    }
    for (const other of others) {
      const turns = this.#turnsOfOthers.get(other) ?? new Set()
      expect(turns).not.toContain(lane)
      this.#turnsOfOthers.set(other, turns.add(lane))
    }
  }

  #mayRun(starter: Starter): boolean {
    return own(this.#running, starter) < this.#mostOf(starter)
  }

  #mostOf({ exempt }: Starter): number {
    return exempt ? Infinity : this.#limits.maxExecutionsPerPrincipal
  }
}

function own(guests: Queued[], starter: Starter): number {
  return guests.filter((queued) => laneOf(queued.starter) === laneOf(starter)).length
}

function laneOf({ principal, exempt }: Starter): string {
  return `${principal} ${exempt}`
}
