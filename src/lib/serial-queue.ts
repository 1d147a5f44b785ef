/** Runs tasks one after another, whether the one before succeeded or failed. */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()
  #unfinished = 0

  /** Tasks of `run` that wait or run. */
  get unfinished(): number {
    return this.#unfinished
  }

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#unfinished += 1
    const turn = this.#last.then(work).finally(() => {
      this.#unfinished -= 1
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Runs after the tasks queued so far; tasks queued later do not wait for it. */
  runAfterQueued<Value>(work: () => Promise<Value>): Promise<Value> {
    return this.#last.then(work)
  }
}
