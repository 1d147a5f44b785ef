import assert from "node:assert/strict"
import { LinkedQueue } from "../../../lib/linked-queue.ts"
import type { PeerProcess } from "../../../protocol/ipc.ts"

export type SlotLimits = {
  maxExecutions: number // running at once
  maxQueue: number // waiting for a slot
  maxExecutionsPerPrincipal: number
  maxQueuePerPrincipal: number
}

/** Who starts an execution. The limits per principal do not apply to who is exempt. */
export type Starter = {
  principal: string
  exempt: boolean
  /** Where it was asked from; absent where that does not matter. */
  peer?: PeerProcess | undefined
}

export type SlotAvailability = "runs" | "waits" | "full" | "full-for-principal"

/** One execution's slot, or its entry in the queue, until it ends. */
export interface ExecutionSlot {
  /** It will not run, but counts as queued until its release. False for what is not queued. */
  leaveQueue(): boolean
  /** Whether it is queued and may still run. */
  isWaiting(): boolean
  release(): void
}

/**
 * How many executions may run, and the queues of those that wait. Each principal has a queue; free
 * slots go round the queues, past principals that are at their own limit. Every operation takes
 * constant time, however many wait.
 */
export class ExecutionSlots<Queued> {
  readonly #limits: SlotLimits
  readonly #queues = new Map<string, PrincipalQueue<Queued>>()
  /** Queues with an entry that may run; each is here once. */
  readonly #ready = new LinkedQueue<PrincipalQueue<Queued>>()
  #running = 0
  #waiting = 0

  constructor(limits: SlotLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  /** Those that left the queue count until their release. */
  get waiting(): number {
    return this.#waiting
  }

  /** Queues that are kept: those of principals with executions. */
  get queues(): number {
    return this.#queues.size
  }

  availability(starter: Starter): SlotAvailability {
    const queue = this.#queues.get(keyOf(starter)) ?? this.#newQueue(starter)
    const mayRun = queue.running < queue.maxRunning && queue.entries.size === 0
    if (mayRun && this.#running < this.#limits.maxExecutions) return "runs"
    if (this.#waiting >= this.#limits.maxQueue) return "full"
    return queue.waiting >= queue.maxWaiting ? "full-for-principal" : "waits"
  }

  /** Takes a slot at once: `availability` said that there is one. */
  acquire(starter: Starter): ExecutionSlot {
    const queue = this.#queueOf(starter)
    this.#start(queue)
    const release = once(() => this.#finish(queue))
    return { leaveQueue: () => false, isWaiting: () => false, release }
  }

  /** Waits for a slot; `admitNext` returns it when it may run. */
  enqueue(starter: Starter, queued: Queued): ExecutionSlot {
    const queue = this.#queueOf(starter)
    const entry = { queued, isAdmitted: false }
    const node = queue.entries.push(entry)
    queue.waiting += 1
    this.#waiting += 1
    this.#markReady(queue)
    const remove = () => {
      node.remove()
      if (queue.entries.size === 0) unmarkReady(queue)
    }
    let hasLeft = false
    return {
      leaveQueue() {
        if (entry.isAdmitted || hasLeft) return false
        hasLeft = true
        remove()
        return true
      },
      isWaiting: () => !entry.isAdmitted && !hasLeft,
      release: once(() => {
        remove()
        if (entry.isAdmitted) this.#finish(queue)
        else this.#leaveQueue(queue)
      }),
    }
  }

  /** The next to run, if there is a free slot and somebody who may take it. */
  admitNext(): Queued | null {
    if (this.#running >= this.#limits.maxExecutions) return null
    const queue = this.#ready.shift()
    if (queue === null) return null
    queue.turn = null
    const entry = queue.entries.shift()
    assert(entry !== null, `nobody waits in the queue of ${queue.key}`)
    entry.isAdmitted = true
    queue.waiting -= 1
    this.#waiting -= 1
    this.#start(queue)
    this.#markReady(queue)
    return entry.queued
  }

  #start(queue: PrincipalQueue<Queued>): void {
    queue.running += 1
    this.#running += 1
  }

  #finish(queue: PrincipalQueue<Queued>): void {
    queue.running -= 1
    this.#running -= 1
    this.#markReady(queue)
    this.#forget(queue)
  }

  #leaveQueue(queue: PrincipalQueue<Queued>): void {
    queue.waiting -= 1
    this.#waiting -= 1
    this.#forget(queue)
  }

  #markReady(queue: PrincipalQueue<Queued>): void {
    if (queue.turn !== null || queue.entries.size === 0) return
    if (queue.running < queue.maxRunning) queue.turn = this.#ready.push(queue)
  }

  #forget(queue: PrincipalQueue<Queued>): void {
    if (queue.running === 0 && queue.waiting === 0) this.#queues.delete(queue.key)
  }

  #queueOf(starter: Starter): PrincipalQueue<Queued> {
    const known = this.#queues.get(keyOf(starter))
    if (known !== undefined) return known
    const queue = this.#newQueue(starter)
    this.#queues.set(queue.key, queue)
    return queue
  }

  #newQueue(starter: Starter): PrincipalQueue<Queued> {
    const { maxExecutionsPerPrincipal, maxQueuePerPrincipal } = this.#limits
    return {
      key: keyOf(starter),
      maxRunning: starter.exempt ? Infinity : maxExecutionsPerPrincipal,
      maxWaiting: starter.exempt ? Infinity : maxQueuePerPrincipal,
      running: 0,
      waiting: 0,
      entries: new LinkedQueue(),
      turn: null,
    }
  }
}

type PrincipalQueue<Queued> = {
  key: string
  maxRunning: number
  maxWaiting: number
  running: number
  waiting: number // with those that left the queue
  entries: LinkedQueue<{ queued: Queued; isAdmitted: boolean }>
  turn: { remove(): void } | null // where it stands among the queues that are ready
}

/** A queue that nobody waits in has no turn: one that comes later starts at the end again. */
function unmarkReady<Queued>(queue: PrincipalQueue<Queued>): void {
  queue.turn?.remove()
  queue.turn = null
}

/** What a principal starts as exempt has a queue of its own. */
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
