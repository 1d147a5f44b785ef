/** Lets one piece of work begin only when the one before it has ended, however it ended. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()
  #underWay = 0

  get areIdle(): boolean {
    return this.#underWay === 0
  }

  take<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#underWay += 1
    const turn = this.#last.then(work).finally(() => {
      this.#underWay -= 1
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Waits for its turn, but does not keep those waiting who come later. */
  yielding<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#last.then(work)
  }
}
