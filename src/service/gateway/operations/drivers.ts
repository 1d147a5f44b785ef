import type { ExecutionId } from "../../../execution/id.ts"
import type { Position } from "../../../execution/record.ts"
import type { Budget, ExecutionSpec } from "../../../execution/spec.ts"
import type { Caller } from "../../access/caller.ts"
import type { DrivenFeed, Driver } from "../ports.ts"
import { decodeCursor } from "./cursor.ts"
import type { KeeperLink } from "./keeper-link.ts"

/** How far behind what was sent a driver that acknowledges nothing is taken to be. */
const trailBytes = 16 * 1024 * 1024
const marksPerTrail = 16
const acksPerBudget = 16
const minAckBytes = 4 * 1024

/** Keeps the keeper informed of who drives what, and of what the slowest of them has taken. */
export class Drivers {
  readonly #link: () => KeeperLink
  readonly #byExecution = new Map<ExecutionId, DrivenExecution>()

  constructor(link: () => KeeperLink) {
    this.#link = link
  }

  drive(caller: Caller, feed: DrivenFeed, acknowledges = false): Driver {
    const { spec } = feed.record()
    const driven = this.#driven(feed.executionId)
    const taken = new TakenOutput(feed.position(), trailOf(spec.budget), acknowledges)
    const driver: ActiveDriver = { principal: caller.principal, taken }
    driven.drivers.add(driver)
    // Only a budget that blocks, or a lease, makes it matter to the keeper who drives.
    const blocks = spec.budget.policy === "block"
    const matters = blocks || spec.onDisconnect === "cancel"
    if (matters) driven.tell()
    return {
      ackAfterBytes: acknowledges ? ackAfterBytes(spec) : null,
      sent() {
        if (blocks && taken.sent(feed.position(), isStuck(feed))) driven.tell()
      },
      acknowledge(cursor) {
        const decoded = decodeCursor(cursor)
        if (decoded === null) return false
        if (taken.acknowledged(decoded.position) && matters) driven.tell()
        return true
      },
      standBy() {
        driver.taken = null
        if (matters) driven.tell()
      },
      [Symbol.dispose]() {
        if (!driven.drivers.delete(driver)) return
        if (matters) driven.tell()
        else driven.forgetIfDone()
      },
    }
  }

  #driven(id: ExecutionId): DrivenExecution {
    const known = this.#byExecution.get(id)
    if (known !== undefined) return known
    const driven = drivenExecution(id, this.#link, () => this.#byExecution.delete(id))
    this.#byExecution.set(id, driven)
    return driven
  }
}

/** The child waits although everything was sent: to keep some of it back would be for ever. */
function isStuck(feed: DrivenFeed): boolean {
  const { blocked, transcript } = feed.record()
  return blocked && feed.position().sequence >= transcript.end.sequence
}

/** Null for one who stands by: present, but taking nothing. */
type ActiveDriver = { principal: string; taken: TakenOutput | null }

type DrivenExecution = ReturnType<typeof drivenExecution>

function drivenExecution(id: ExecutionId, link: () => KeeperLink, forget: () => void) {
  const drivers = new Set<ActiveDriver>()
  let isTelling = false
  let isStale = false

  /** Not before the last message is through: it could overtake the next driver's first. */
  function forgetIfDone(): void {
    if (drivers.size === 0 && !isTelling) forget()
  }

  async function tellUntilFresh(): Promise<void> {
    isTelling = true
    while (isStale) {
      isStale = false
      const present = [...drivers]
      await link().call("drivers", {
        executionId: id,
        principals: present.map(({ principal }) => principal),
        floor: lowest(present.flatMap(({ taken }) => (taken === null ? [] : [taken.floor]))),
      })
    }
    isTelling = false
    forgetIfDone()
  }

  return {
    drivers,
    /** One message under way; what changes meanwhile goes into the next. */
    tell(): void {
      isStale = true
      if (!isTelling) void tellUntilFresh()
    },
    forgetIfDone,
  }
}

/** Up to where one driver needs nothing again. */
class TakenOutput {
  readonly #trailBytes: number
  #floor: Position
  #marks: Position[] = []
  #acknowledges: boolean

  constructor(from: Position, trail: number, acknowledges: boolean) {
    this.#floor = from
    this.#trailBytes = trail
    this.#acknowledges = acknowledges
  }

  get floor(): Position {
    return this.#floor
  }

  /** Answers whether the floor rose. */
  sent(position: Position, nothingMayWait: boolean): boolean {
    if (this.#acknowledges) return false
    if (nothingMayWait) return this.#raise(position)
    const newest = this.#marks.at(-1)
    const step = this.#trailBytes / marksPerTrail
    if (newest === undefined || position.sequence - newest.sequence >= step) {
      this.#marks.push(position)
    }
    let rose = false
    let oldest = this.#marks[0]
    while (oldest !== undefined && position.sequence - oldest.sequence >= this.#trailBytes) {
      rose = this.#raise(oldest)
      this.#marks.shift()
      oldest = this.#marks[0]
    }
    return rose
  }

  acknowledged(position: Position): boolean {
    this.#acknowledges = true
    return this.#raise(position)
  }

  #raise(position: Position): boolean {
    if (position.sequence <= this.#floor.sequence) return false
    this.#floor = position
    return true
  }
}

/**
 * A trail longer than the budget would block the child for ever: with a quarter, what is kept for
 * the driver, a segment and the next read fit in it. How many lines a trail holds nobody knows.
 */
function trailOf({ bytes, lines }: Budget): number {
  return lines === null ? Math.min(trailBytes, Math.floor(bytes / 4)) : 0
}

/** How much a driver may take before it should say so; null where nobody waits for that. */
export function ackAfterBytes({ budget }: Pick<ExecutionSpec, "budget">): number | null {
  if (budget.policy !== "block") return null
  return Math.max(minAckBytes, Math.floor(budget.bytes / acksPerBudget))
}

function lowest(positions: Position[]): Position | null {
  let floor: Position | null = null
  for (const position of positions) {
    if (floor === null || position.sequence < floor.sequence) floor = position
  }
  return floor === null ? null : { ...floor }
}
