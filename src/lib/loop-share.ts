/** Something to be done; answers what it took of a turn. */
type Work = () => number

/**
 * Shares the turns of an event loop among those who always have more to do. A turn has an
 * allowance; who finds it used up waits for another turn, in order. So an order that comes in, to
 * pause say, waits for one turn's allowance, however many floods there are.
 */
export class LoopShare {
  readonly #perTurn: number
  readonly #nextTurn: (run: () => void) => void
  #waiting: Work[] = []
  #left: number
  #isTurnDue = false
  #isWorking = false

  constructor(perTurn: number, nextTurn: (run: () => void) => void) {
    this.#perTurn = perTurn
    this.#nextTurn = nextTurn
    this.#left = perTurn
  }

  /** Now, where this turn has something left, else when it is its turn. */
  soon(work: Work): void {
    // Who is at work and has more to do waits like everybody else.
    const isFree = !this.#isWorking && this.#left > 0 && this.#waiting.length === 0
    if (isFree) this.#take(work)
    else this.#waiting.push(work)
    this.#comeBack()
  }

  /** In another turn than this one, even if nobody else waits. */
  later(work: Work): void {
    this.#waiting.push(work)
    this.#comeBack()
  }

  #comeBack(): void {
    if (this.#isTurnDue) return
    this.#isTurnDue = true
    this.#nextTurn(() => this.#turn())
  }

  #turn(): void {
    this.#isTurnDue = false
    this.#left = this.#perTurn
    const waiting = this.#waiting
    this.#waiting = []
    let done = 0
    try {
      for (const work of waiting) {
        if (this.#left <= 0) break
        done += 1
        this.#take(work)
      }
    } finally {
      // Who came meanwhile waits behind those who waited before.
      this.#waiting = [...waiting.slice(done), ...this.#waiting]
      if (this.#waiting.length > 0) this.#comeBack()
    }
  }

  #take(work: Work): void {
    this.#isWorking = true
    try {
      this.#left -= work()
    } finally {
      this.#isWorking = false
    }
  }
}
