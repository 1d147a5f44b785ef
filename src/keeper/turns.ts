/** Lets one piece of work begin only when the one before it has ended, however it ended. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<Value>(work: () => Promise<Value>): Promise<Value> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Waits for its turn, but does not keep those waiting who come later. */
  yielding<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#last.then(work)
  }
}
