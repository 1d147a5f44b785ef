import { LinkedQueue } from "../../../lib/linked-queue.ts"

export type PlaceBounds = {
  maxExecutions: number // running at once
  maxQueue: number // waiting for a place
  maxExecutionsPerPrincipal: number
  maxQueuePerPrincipal: number
}

/** Who starts an execution. The bounds of one principal do not hold for who is exempt of them. */
export type Starter = { principal: string; exempt: boolean }

/** What would become of a newcomer. */
export type Prospect = "runs" | "waits" | "full" | "full-for-principal"

/** One execution's place or seat, from its arrival to its end. */
export interface Stay {
  /** Gives the seat in the queue up; it counts until the end. False for what does not wait. */
  withdraw(): boolean
  end(): void
}

/**
 * The places for executions and the queue before them. Those that wait stand in a lane for each
 * principal; a free place goes to the lanes in turn, past those that are at their own bound. Every
 * operation takes the same few steps, however many wait.
 */
export class Places<Guest> {
  readonly #bounds: PlaceBounds
  readonly #lanes = new Map<string, Lane<Guest>>()
  /** Lanes in which somebody waits and may run; each stands here once. */
  readonly #turns = new LinkedQueue<Lane<Guest>>()
  #running = 0
  #waiting = 0

  constructor(bounds: PlaceBounds) {
    this.#bounds = bounds
  }

  get running(): number {
    return this.#running
  }

  /** Those whose seat was given up count until their end. */
  get waiting(): number {
    return this.#waiting
  }

  /** Lanes that are remembered: those of who is here. */
  get lanes(): number {
    return this.#lanes.size
  }

  prospect(starter: Starter): Prospect {
    const lane = this.#lanes.get(keyOf(starter)) ?? this.#newLane(starter)
    const mayRun = lane.running < lane.maxRunning && lane.line.size === 0
    if (mayRun && this.#running < this.#bounds.maxExecutions) return "runs"
    if (this.#waiting >= this.#bounds.maxQueue) return "full"
    return lane.waiting >= lane.maxWaiting ? "full-for-principal" : "waits"
  }

  /** Takes a place at once: the prospect said that there is one. */
  take(starter: Starter): Stay {
    const lane = this.#laneOf(starter)
    this.#start(lane)
    return { withdraw: () => false, end: once(() => this.#finish(lane)) }
  }

  /** Takes a seat; `admit` calls the guest up. */
  wait(starter: Starter, guest: Guest): Stay {
    const lane = this.#laneOf(starter)
    const seat = { guest, isCalled: false }
    const standing = lane.line.push(seat)
    lane.waiting += 1
    this.#waiting += 1
    this.#queueUp(lane)
    let isWithdrawn = false
    return {
      withdraw() {
        if (seat.isCalled || isWithdrawn) return false
        isWithdrawn = true
        standing.remove()
        return true
      },
      end: once(() => {
        standing.remove()
        if (seat.isCalled) this.#finish(lane)
        else this.#leaveSeat(lane)
      }),
    }
  }

  /** The next to run, if there is a place and somebody who may take it. */
  admit(): Guest | null {
    while (this.#running < this.#bounds.maxExecutions) {
      const lane = this.#turns.shift()
      if (lane === null) return null
      lane.hasTurn = false
      const seat = lane.line.shift()
      if (seat === null) continue // the last one that waited has withdrawn meanwhile
      seat.isCalled = true
      lane.waiting -= 1
      this.#waiting -= 1
      this.#start(lane)
      this.#queueUp(lane)
      return seat.guest
    }
    return null
  }

  #start(lane: Lane<Guest>): void {
    lane.running += 1
    this.#running += 1
  }

  #finish(lane: Lane<Guest>): void {
    lane.running -= 1
    this.#running -= 1
    this.#queueUp(lane)
    this.#forget(lane)
  }

  #leaveSeat(lane: Lane<Guest>): void {
    lane.waiting -= 1
    this.#waiting -= 1
    this.#forget(lane)
  }

  #queueUp(lane: Lane<Guest>): void {
    if (lane.hasTurn || lane.line.size === 0 || lane.running >= lane.maxRunning) return
    lane.hasTurn = true
    this.#turns.push(lane)
  }

  #forget(lane: Lane<Guest>): void {
    if (lane.running === 0 && lane.waiting === 0) this.#lanes.delete(lane.key)
  }

  #laneOf(starter: Starter): Lane<Guest> {
    const known = this.#lanes.get(keyOf(starter))
    if (known !== undefined) return known
    const lane = this.#newLane(starter)
    this.#lanes.set(lane.key, lane)
    return lane
  }

  #newLane(starter: Starter): Lane<Guest> {
    const { maxExecutionsPerPrincipal, maxQueuePerPrincipal } = this.#bounds
    return {
      key: keyOf(starter),
      maxRunning: starter.exempt ? Infinity : maxExecutionsPerPrincipal,
      maxWaiting: starter.exempt ? Infinity : maxQueuePerPrincipal,
      running: 0,
      waiting: 0,
      line: new LinkedQueue(),
      hasTurn: false,
    }
  }
}

type Lane<Guest> = {
  key: string
  maxRunning: number
  maxWaiting: number
  running: number
  waiting: number // with those whose seat was given up
  line: LinkedQueue<{ guest: Guest; isCalled: boolean }>
  hasTurn: boolean
}

/** What a principal starts as one who is exempt stands in a lane of its own. */
function keyOf({ principal, exempt }: Starter): string {
  return exempt ? `exempt ${principal}` : `bound ${principal}`
}

function once(run: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    run()
  }
}
