/**
 * Has garbage collected after so many bytes of buffers and strings went through. The collector by
 * itself waits for more of them than a small process should hold: a flood of text cost 130 MB, with
 * this half of it, for a millisecond now and then.
 */
export class CollectionPace {
  readonly #everyBytes: number
  #bytes = 0

  constructor(everyBytes: number) {
    this.#everyBytes = everyBytes
  }

  readonly passed = (bytes: number): void => {
    this.#bytes += bytes
    if (this.#bytes < this.#everyBytes) return
    this.#bytes = 0
    Bun.gc(true)
  }
}
