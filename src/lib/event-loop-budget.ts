/** Something to do; answers how much of a turn's budget it used. */
type Work = () => number

/**
 * Limits how much work one turn of the event loop does. Work that finds the budget used up runs in
 * a later turn, in order. So a request that comes in, to pause say, waits for one turn's budget,
 * however many executions flood.
 */
export class EventLoopBudget {
  readonly #perTurn: number
  readonly #nextTurn: (run: () => void) => void
  #waiting: Work[] = []
  #remaining: number
  #isTurnScheduled = false
  #isWorking = false

  constructor(perTurn: number, nextTurn: (run: () => void) => void) {
    this.#perTurn = perTurn
    this.#nextTurn = nextTurn
    this.#remaining = perTurn
  }

  /** Now, where this turn has budget left, else in a later turn. */
  run(work: Work): void {
    // Work that asks for more while it runs waits like everything else.
    const isFree = !this.#isWorking && this.#remaining > 0 && this.#waiting.length === 0
    if (isFree) this.#runNow(work)
    else this.#waiting.push(work)
    this.#scheduleTurn()
  }

  /** In another turn than this one, even if nobody else waits. */
  runNextTurn(work: Work): void {
    this.#waiting.push(work)
    this.#scheduleTurn()
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return
    this.#isTurnScheduled = true
    this.#nextTurn(() => this.#runTurn())
  }

  #runTurn(): void {
    this.#isTurnScheduled = false
    this.#remaining = this.#perTurn
    const waiting = this.#waiting
    this.#waiting = []
    let done = 0
    try {
      for (const work of waiting) {
        if (this.#remaining <= 0) break
        done += 1
        this.#runNow(work)
      }
    } finally {
      // What was added meanwhile runs after what waited before.
      this.#waiting = [...waiting.slice(done), ...this.#waiting]
      if (this.#waiting.length > 0) this.#scheduleTurn()
    }
  }

  #runNow(work: Work): void {
    this.#isWorking = true
    try {
      this.#remaining -= work()
    } finally {
      this.#isWorking = false
    }
  }
}
