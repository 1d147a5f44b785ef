import type { ExecutionId } from "../execution/id.ts"
import type { ExecutionRecord, Position } from "../execution/record.ts"
import { decodeCursor } from "./cursor.ts"
import type { KeeperLink } from "./keeper-link.ts"
import type { Caller, Driver, OutputFeed } from "./ports.ts"

/** How far behind what was sent a driver that acknowledges nothing is taken to be. */
const trailBytes = 16 * 1024 * 1024
const marksPerTrail = 16

/** Keeps the keeper informed of who drives what, and of what the slowest of them has taken. */
export class Drivers {
  readonly #link: () => KeeperLink
  readonly #byExecution = new Map<ExecutionId, DrivenExecution>()

  constructor(link: () => KeeperLink) {
    this.#link = link
  }

  drive(caller: Caller, feed: OutputFeed): Driver {
    const record = feed.record()
    const { executionId } = feed
    const driven =
      this.#byExecution.get(executionId) ?? new DrivenExecution(executionId, this.#link)
    this.#byExecution.set(executionId, driven)
    const taken = new TakenOutput(feed.position(), trailOf(record))
    const place: DriverPlace = { principal: caller.principal, taken }
    driven.places.add(place)
    // Only a budget that blocks, or a lease, makes it matter to the keeper who drives.
    const matters = record.spec.budget.policy === "block" || record.spec.onDisconnect === "cancel"
    if (matters) driven.tell()
    return {
      sent() {
        if (taken.sent(feed.position()) && matters) driven.tell()
      },
      acknowledge(cursor) {
        const decoded = decodeCursor(cursor)
        if (decoded === null) return false
        if (taken.acknowledged(decoded.place) && matters) driven.tell()
        return true
      },
      standBy() {
        place.taken = null
        if (matters) driven.tell()
      },
      [Symbol.dispose]: () => {
        if (!driven.places.delete(place)) return
        if (driven.places.size === 0) this.#byExecution.delete(executionId)
        if (matters) driven.tell()
      },
    }
  }
}

/** Null for one who stands by: present, but taking nothing. */
type DriverPlace = { principal: string; taken: TakenOutput | null }

class DrivenExecution {
  readonly places = new Set<DriverPlace>()
  readonly #id: ExecutionId
  readonly #link: () => KeeperLink
  #isTelling = false
  #isStale = false

  constructor(id: ExecutionId, link: () => KeeperLink) {
    this.#id = id
    this.#link = link
  }

  /** One message under way; what changes meanwhile goes into the next. */
  tell(): void {
    this.#isStale = true
    if (!this.#isTelling) void this.#tellUntilFresh()
  }

  async #tellUntilFresh(): Promise<void> {
    this.#isTelling = true
    while (this.#isStale) {
      this.#isStale = false
      const places = [...this.places]
      await this.#link().call("drivers", {
        executionId: this.#id,
        principals: places.map(({ principal }) => principal),
        floor: lowest(places.flatMap(({ taken }) => (taken === null ? [] : [taken.floor]))),
      })
    }
    this.#isTelling = false
  }
}

/** Up to where one driver needs nothing again. */
class TakenOutput {
  readonly #trailBytes: number
  #floor: Position
  #marks: Position[] = []
  #acknowledges = false

  constructor(from: Position, trail: number) {
    this.#floor = from
    this.#trailBytes = trail
  }

  get floor(): Position {
    return this.#floor
  }

  /** Answers whether the floor rose. */
  sent(position: Position): boolean {
    if (this.#acknowledges) return false
    const newest = this.#marks.at(-1)
    const step = this.#trailBytes / marksPerTrail
    if (newest === undefined || position.sequence - newest.sequence >= step) {
      this.#marks.push(position)
    }
    let rose = false
    let oldest = this.#marks[0]
    while (oldest !== undefined && position.sequence - oldest.sequence >= this.#trailBytes) {
      this.#floor = oldest
      this.#marks.shift()
      oldest = this.#marks[0]
      rose = true
    }
    return rose
  }

  acknowledged(position: Position): boolean {
    this.#acknowledges = true
    if (position.sequence <= this.#floor.sequence) return false
    this.#floor = position
    return true
  }
}

/**
 * A trail longer than the budget would block the child for ever: with a quarter, what is kept for
 * the driver, a segment and the next read fit in it. How many lines a trail holds nobody knows.
 */
function trailOf(record: ExecutionRecord): number {
  const { bytes, lines } = record.spec.budget
  return lines === null ? Math.min(trailBytes, Math.floor(bytes / 4)) : 0
}

function lowest(positions: Position[]): Position | null {
  let floor: Position | null = null
  for (const position of positions) {
    if (floor === null || position.sequence < floor.sequence) floor = position
  }
  return floor === null ? null : { ...floor }
}
